solution status: time limit reached
