optimal
