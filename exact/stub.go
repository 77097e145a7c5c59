package exact

func (s *vcschedSearch) patterns(improve func(int)) error { return nil }
