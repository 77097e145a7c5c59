// SPDX-License-Identifier: MIT

package kubernetes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gapwise/gapwise/model"
)

// Offers are nodes that can be bought.
type Offers struct {
	all    []offer
	limits []poolLimit
	notes  []string
	types  []offer // the ones from which pools choose, for their prices
}

// offer is a type of nodes at a place, as a node of it would be.
type offer struct {
	id       string
	pool     string // of Karpenter; "" without
	labels   map[string]string
	taints   []corev1.Taint
	capacity corev1.ResourceList
	price    float64 // of the table's unit; NaN if it has none
	count    int     // 0: any number
	weight   int     // of the pool
}

// poolLimit bounds the sum over the nodes of a Karpenter NodePool.
type poolLimit struct {
	pool   string
	limits corev1.ResourceList
}

// Labels of Karpenter.
const (
	poolLabel     = "karpenter.sh/nodepool"
	capacityLabel = "karpenter.sh/capacity-type"
)

// requirement is one of a label of nodes, as Karpenter writes it.
type requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

// nodePool is the part of Karpenter's NodePool (karpenter.sh/v1) that a plan needs.
type nodePool struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Template struct {
			Metadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Spec struct {
				Requirements  []requirement  `json:"requirements"`
				Taints        []corev1.Taint `json:"taints"`
				StartupTaints []corev1.Taint `json:"startupTaints"`
			} `json:"spec"`
		} `json:"template"`
		Limits     corev1.ResourceList `json:"limits"`
		Weight     *int                `json:"weight"`
		Replicas   *int                `json:"replicas"`
		Disruption struct {
			Budgets []any `json:"budgets"`
		} `json:"disruption"`
	} `json:"spec"`
	Items []nodePool `json:"items"`
}

// instanceType is an instance type as the file of Karpenter's KWOK provider has it.
type instanceType struct {
	Name      string `json:"name"`
	Offerings []struct {
		Price        float64       `json:"Price"`
		Available    bool          `json:"Available"`
		Requirements []requirement `json:"Requirements"`
	} `json:"offerings"`
	Architecture     string              `json:"architecture"`
	OperatingSystems []string            `json:"operatingSystems"`
	Resources        corev1.ResourceList `json:"resources"`
}

// ReadOffers reads files of node types to buy. A file is a table (CSV) with the columns type and price, and optionally
// zone, count, label:KEY and names of resources; a JSON list of instance types as Karpenter's KWOK provider has it; or
// Karpenter NodePools in YAML or JSON. Each pool then offers the types that meet its requirements. The error wraps
// model.ErrInvalid and names the file.
func ReadOffers(files map[string][]byte) (*Offers, error) {
	o := &Offers{}
	var pools []nodePool
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := bytes.TrimSpace(files[name])
		var err error
		switch {
		case bytes.HasPrefix(text, []byte("[")):
			err = o.addTypes(text)
		case bytes.HasPrefix(text, []byte("{")), bytes.Contains(text, []byte("kind:")):
			pools, err = o.readPools(text, pools)
		default:
			err = o.addTable(text)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if len(o.all) == 0 {
		return nil, fmt.Errorf("%w offers: no instance types are there; give a table or a JSON list of them beside NodePools", model.ErrInvalid)
	}
	if len(pools) > 0 {
		types := o.all
		o.all, o.types = nil, types
		for k := range pools {
			o.addPool(&pools[k], types)
		}
	}
	if len(o.all) == 0 {
		return nil, fmt.Errorf("%w offers: no instance type meets the requirements of a NodePool", model.ErrInvalid)
	}
	return o, nil
}

// addTypes adds the offerings of a list of instance types.
func (o *Offers) addTypes(text []byte) error {
	var types []instanceType
	if err := json.Unmarshal(text, &types); err != nil {
		return fmt.Errorf("%w offers: %w", model.ErrInvalid, model.JSONError(text, err))
	}
	for k := range types {
		t := &types[k]
		if t.Name == "" {
			return fmt.Errorf("%w offers: the instance type [%d] has no name", model.ErrInvalid, k)
		}
		for _, at := range t.Offerings {
			if !at.Available {
				continue
			}
			labels := map[string]string{corev1.LabelInstanceTypeStable: t.Name}
			if t.Architecture != "" {
				labels[corev1.LabelArchStable] = t.Architecture
			}
			if len(t.OperatingSystems) > 0 {
				labels[corev1.LabelOSStable] = t.OperatingSystems[0]
			}
			for _, r := range at.Requirements {
				if r.Operator == "In" && len(r.Values) == 1 {
					labels[r.Key] = r.Values[0]
				}
			}
			if err := o.add(offer{labels: labels, capacity: t.Resources, price: at.Price}); err != nil {
				return err
			}
		}
	}
	return nil
}

// add adds an offer without a pool; its price and resources must be in range.
func (o *Offers) add(x offer) error {
	kind := x.labels[corev1.LabelInstanceTypeStable]
	if !math.IsNaN(x.price) && !(x.price >= 0 && x.price*priceUnits <= 1e8) {
		return fmt.Errorf("%w offers: the price of %q is %v, must be a number from 0 to 10000", model.ErrInvalid, kind, x.price)
	}
	for name, q := range x.capacity {
		if q.Sign() < 0 {
			return fmt.Errorf("%w offers: %q has %s of %s, must be at least 0", model.ErrInvalid, kind, q.String(), name)
		}
	}
	if _, ok := x.capacity[corev1.ResourcePods]; !ok {
		x.capacity = maps.Clone(x.capacity)
		if x.capacity == nil {
			x.capacity = corev1.ResourceList{}
		}
		x.capacity[corev1.ResourcePods] = resource.MustParse("110") // a kubelet's default
	}
	x.name()
	if slices.ContainsFunc(o.all, func(y offer) bool { return y.id == x.id }) { // other labels tell the lines apart
		for k := range o.all {
			if y := &o.all[k]; maps.Equal(x.labels, y.labels) {
				if x.same(y) {
					return nil
				}
				return fmt.Errorf("%w offers: %q is there twice, with another price, count or amount; leave one, or tell them apart by zone or label:KEY", model.ErrInvalid, x.id)
			}
		}
		x.id = strings.Join(slices.Concat([]string{x.id}, x.others()), "/")
	}
	o.all = append(o.all, x)
	return nil
}

// same reports whether two offers of the same labels are one.
func (x *offer) same(y *offer) bool {
	prices := x.price == y.price || math.IsNaN(x.price) && math.IsNaN(y.price)
	return prices && x.count == y.count && maps.EqualFunc(x.capacity, y.capacity, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
}

// placeLabels are the labels that an offer's name has.
var placeLabels = []string{corev1.LabelInstanceTypeStable, corev1.LabelTopologyZone, capacityLabel}

// others returns the values of the labels that an offer's name doesn't have, in the order of their keys.
func (x *offer) others() (values []string) {
	for _, key := range slices.Sorted(maps.Keys(x.labels)) {
		if !slices.Contains(placeLabels, key) {
			values = append(values, x.labels[key])
		}
	}
	return values
}

// name makes the id of an offer from its distinguishing labels.
func (x *offer) name() {
	parts := []string{x.labels[corev1.LabelInstanceTypeStable], x.labels[corev1.LabelTopologyZone], x.labels[capacityLabel]}
	if x.pool != "" {
		parts = append([]string{x.pool}, parts...)
	}
	x.id = strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "/")
}

// offerColumns are the columns of a table of offers by their names; others are resources with a domain and labels.
var offerColumns = []string{"type", "zone", "price", "count", string(corev1.ResourceCPU), string(corev1.ResourceMemory), string(corev1.ResourceEphemeralStorage), string(corev1.ResourcePods)}

// addTable adds the lines of a table, which are read as those of prices are.
func (o *Offers) addTable(text []byte) error {
	rows, comma, err := priceRows(text)
	for k := 0; err == nil && k < len(rows[0]); k++ {
		if rows[0][k] = strings.TrimSpace(rows[0][k]); !strings.ContainsAny(rows[0][k], "/:") {
			rows[0][k] = strings.ToLower(rows[0][k])
		}
	}
	if err != nil || len(rows) < 2 || !slices.Contains(rows[0], "type") {
		return fmt.Errorf("%w offers: it is neither a table with a heading (type,price,cpu,memory,...) nor YAML nor JSON: %w", model.ErrInvalid, cmp.Or(err, errors.New("no column \"type\"")))
	}
	for _, name := range rows[0] {
		if !slices.Contains(offerColumns, name) && !strings.ContainsAny(name, "/:") && !strings.HasPrefix(name, corev1.ResourceHugePagesPrefix) {
			return fmt.Errorf("%w offers: the column %q is no resource, nor one of %s and label:KEY", model.ErrInvalid, name, strings.Join(offerColumns, ", "))
		}
	}
	for line, row := range rows[1:] {
		x := offer{labels: map[string]string{}, capacity: corev1.ResourceList{}, price: math.NaN()}
		for c, name := range rows[0] {
			value := strings.TrimSpace(row[c])
			if value == "" {
				continue
			}
			var err error
			switch key, label := strings.CutPrefix(name, "label:"); {
			case label:
				x.labels[key] = value
			case name == "type":
				x.labels[corev1.LabelInstanceTypeStable] = value
			case name == "zone":
				x.labels[corev1.LabelTopologyZone] = value
			case name == "price":
				var unit Rate
				if x.price, unit, err = priceCell(value, comma); err == nil && unit != (Rate{}) {
					err = errors.New("write the number alone, --price-unit names the unit")
				}
			case name == "count":
				if x.count, err = strconv.Atoi(value); err == nil && x.count < 1 {
					err = errors.New("below 1")
				}
			default:
				if comma != ',' {
					value = strings.Replace(value, ",", ".", 1)
				}
				x.capacity[corev1.ResourceName(name)], err = resource.ParseQuantity(value)
			}
			if err != nil {
				return fmt.Errorf("%w offers: line %d has %q for %s: %w", model.ErrInvalid, line+2, value, name, err)
			}
		}
		if x.labels[corev1.LabelInstanceTypeStable] == "" {
			return fmt.Errorf("%w offers: line %d names no type", model.ErrInvalid, line+2)
		}
		if err := o.add(x); err != nil {
			return err
		}
	}
	return nil
}

// readPools reads documents of YAML, which JSON is, too. Any object that isn't a NodePool is named in a note.
func (o *Offers) readPools(text []byte, pools []nodePool) ([]nodePool, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var doc any
		if err := d.Decode(&doc); errors.Is(err, io.EOF) {
			return pools, nil
		} else if err != nil {
			return nil, fmt.Errorf("%w offers: %w", model.ErrInvalid, err)
		}
		if doc == nil {
			continue
		}
		data, err := json.Marshal(doc)
		if err != nil {
			return nil, fmt.Errorf("%w offers: %w", model.ErrInvalid, err)
		}
		var p nodePool
		if err := json.Unmarshal(data, &p); err != nil {
			return nil, fmt.Errorf("%w offers: a NodePool: %w", model.ErrInvalid, err)
		}
		for _, x := range append(p.Items, p) {
			switch {
			case x.Kind == "NodePool" && x.Metadata.Name != "":
				pools = append(pools, x)
			case x.Kind == "NodePool":
				return nil, fmt.Errorf("%w offers: a NodePool without a name", model.ErrInvalid)
			case x.Kind != "List" && x.Kind != "NodePoolList":
				o.notes = append(o.notes, fmt.Sprintf("%s %s of the offers isn't modelled", cmp.Or(x.Kind, "an object without a kind"), x.Metadata.Name))
			}
		}
	}
}

// mostVariants bounds the nodes that a NodePool's open labels make of one instance type.
const mostVariants = 16

// addPool adds a pool's offers among some types: the types with labels that meet its requirements, with its labels and
// taints. A label that types don't have is the pool's own: each of its values is an offer.
func (o *Offers) addPool(p *nodePool, types []offer) {
	name, spec := p.Metadata.Name, &p.Spec.Template.Spec
	note := func(format string, args ...any) {
		text := "NodePool " + name + ": " + fmt.Sprintf(format, args...)
		if !slices.Contains(o.notes, text) {
			o.notes = append(o.notes, text)
		}
	}
	if p.Spec.Weight != nil {
		note("its weight decides between equal nodes of one price alone, of pools without limits; Karpenter takes the heavier pool at any price")
	}
	if len(p.Spec.Disruption.Budgets) > 0 {
		note("its disruption budgets aren't modelled: they bind what Karpenter disrupts, not the evictions of a plan")
	}
	if p.Spec.Replicas != nil {
		note("it has a fixed number of nodes, which isn't modelled; nothing is bought of it")
		return
	}
	for _, t := range types {
		labels := maps.Clone(p.Spec.Template.Metadata.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		maps.Copy(labels, t.labels)
		labels[poolLabel] = name
		variants := []map[string]string{labels}
		for _, r := range spec.Requirements {
			value, has := labels[r.Key]
			own := !has && !strings.Contains(r.Key, "karpenter.")
			switch {
			case has && !r.takes(value):
				variants = nil
			case has, r.Operator == "NotIn" && own, r.Operator == "DoesNotExist":
			case own && r.Operator == "In" && len(r.Values)*len(variants) <= mostVariants:
				var more []map[string]string
				for _, v := range variants {
					for _, x := range r.Values {
						w := maps.Clone(v)
						w[r.Key] = x
						more = append(more, w)
					}
				}
				variants = more
			default:
				note("the instance types say nothing of %s, so that its requirement isn't applied", r.Key)
			}
		}
		for _, v := range variants {
			x := offer{pool: name, labels: v, taints: spec.Taints, capacity: t.capacity, price: t.price, count: t.count}
			if p.Spec.Weight != nil {
				x.weight = *p.Spec.Weight
			}
			x.name()
			for n := 2; slices.ContainsFunc(o.all, func(y offer) bool { return y.id == x.id }); n++ {
				x.name()
				x.id = fmt.Sprintf("%s#%d", x.id, n)
			}
			o.all = append(o.all, x)
		}
	}
	if len(p.Spec.Limits) > 0 {
		o.limits = append(o.limits, poolLimit{name, p.Spec.Limits})
	}
}

// takes reports whether a label's value meets a requirement.
func (r *requirement) takes(value string) bool {
	switch r.Operator {
	case "In":
		return slices.Contains(r.Values, value)
	case "NotIn":
		return !slices.Contains(r.Values, value)
	case "DoesNotExist":
		return false
	case "Gt", "Lt", "Gte", "Lte":
		x, err := strconv.ParseInt(value, 10, 64)
		if err != nil || len(r.Values) != 1 {
			return false
		}
		y, err := strconv.ParseInt(r.Values[0], 10, 64)
		return err == nil && (r.Operator == "Gt" && x > y || r.Operator == "Lt" && x < y || r.Operator == "Gte" && x >= y || r.Operator == "Lte" && x <= y)
	}
	return true // Exists
}

// Unpriced returns the prices of nodes by their vCPUs, with a note on the types that have no price.
func (o *Offers) Unpriced() Prices {
	var all []string
	for _, x := range slices.Concat(o.all, o.types) {
		if math.IsNaN(x.price) {
			all = append(all, x.id)
		}
	}
	p := PriceByVCPU
	p.Notes = append(slices.Clip(p.Notes), "node types to buy have no price ("+list(all)+"), so that costs are in vCPU; give all of them one, or --price")
	return p
}

// Prices returns the prices of nodes by the offers and by the types from which pools choose: the price of a node's type,
// of the line with most of its labels, zone and capacity type among them; false if one has no price.
func (o *Offers) Prices() (Prices, bool) {
	lines := slices.Concat(o.all, o.types)
	for k := range lines {
		if math.IsNaN(lines[k].price) {
			return Prices{}, false
		}
	}
	return Prices{Unit: tableUnit, Of: func(n *corev1.Node) (int64, error) {
		best, fits := math.NaN(), -1
		for k := range lines {
			x, fit := &lines[k], 0
			for _, key := range placeLabels {
				if x.labels[key] == n.Labels[key] {
					fit++
				}
			}
			for key, value := range x.labels {
				if !slices.Contains(placeLabels, key) && key != poolLabel && value == n.Labels[key] {
					fit++
				}
			}
			if x.labels[corev1.LabelInstanceTypeStable] == n.Labels[corev1.LabelInstanceTypeStable] && (fit > fits || fit == fits && x.price < best) {
				best, fits = x.price, fit
			}
		}
		if fits < 0 {
			return 0, fmt.Errorf("%w offers: there is no price for the type %q of node %s; give --price", model.ErrInvalid, n.Labels[corev1.LabelInstanceTypeStable], n.Name)
		}
		return int64(math.Round(best * priceUnits)), nil
	}}, true
}
