solution status: time limit reached
objective value:                                 -5.5
x                                                   1 	(obj:-3)
constant                                            1 	(obj:-2.5)
