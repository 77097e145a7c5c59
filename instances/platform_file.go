// SPDX-License-Identifier: MIT

//go:build !js

package instances

import (
	"fmt"
	"os"
	"strings"

	"github.com/gapwise/gapwise/model"
)

// platformOfFile reads the platform of a specification that is no preset.
func platformOfFile(spec string) (Platform, error) {
	path, o, given, err := cutSimgrid(spec)
	if err != nil {
		return Platform{}, err
	}
	if _, err := os.Stat(path); path == "" || err != nil {
		var names []string
		for _, p := range presets {
			names = append(names, p[0])
		}
		return Platform{}, badPlatform(spec, "there is no such file or preset, give one of %s, or %sFILE.xml", strings.Join(names, ", "), simgridPrefix)
	}
	return readPlatform(path, o, given)
}

// readPlatform reads a platform file, one of SimGrid with its options.
func readPlatform(path string, o simgridOptions, given bool) (Platform, error) {
	data, err := ReadFile(path)
	if err != nil {
		return Platform{}, err
	}
	p := Platform{}
	p.Name, _ = nameOf(path)
	if data, err = unzip(data); err != nil {
		return Platform{}, fmt.Errorf("%s: %w: %w", path, model.ErrInvalid, err)
	}
	f := newFile(path, data)
	switch {
	case given || f.starts("<"):
		name := p.Name
		p, err = readSimgrid(data, o)
		p.Name = name
	case isSAGA(f.keys()):
		var net Platform
		if net, err = readSAGANetwork(data); err == nil {
			p.Machines, p.Network, p.NotModelled = net.Machines, net.Network, net.NotModelled
		}
	default:
		var d *model.DAG
		if d, err = model.DecodePlatform(data); err == nil {
			p.Resources, p.Machines, p.Network = d.Resources, d.Machines, d.Network
		}
	}
	if err != nil {
		return Platform{}, fmt.Errorf("%s: %w", path, err)
	}
	return p, nil
}
