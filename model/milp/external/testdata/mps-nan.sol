x nan
