// SPDX-License-Identifier: MIT

package kubernetes

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"github.com/gapwise/gapwise/model"
)

// priceUnits are so many to a unit of a table's prices, tableUnit if it names none.
const (
	priceUnits = 10_000
	tableUnit  = "1/10000 of the table's unit"
)

// monthHours are the hours of a month, as clouds count them.
const monthHours = 730

// Rate is the currency of prices and the time that they are for.
type Rate struct {
	Currency string // such as "USD"
	Hours    int    // 1, 24, 730 or 8760; 0: not known
}

// period is a time that prices are for: its words, its hours and the units of cost to one of the currency.
type period struct {
	words        string
	hours, units int
}

var periods = []period{
	{"h hr hrs hour hours hourly", 1, priceUnits}, {"day d days daily", 24, 1000},
	{"month mo months monthly", monthHours, 100}, {"year y yr years yearly annual annually", 12 * monthHours, 10},
}

// currencies are codes, with the signs and names of their money behind some; a bare dollar is the USA's.
const currencies = "USD $ us$ dollar dollars, EUR € euro euros, GBP £, INR ₹, AUD a$ au$, BRL r$, CAD c$ ca$, HKD hk$, NZD nz$, SGD s$, " +
	"AED, ARS, BGN, CHF, CLP, CNY, COP, CZK, DKK, EGP, HUF, IDR, ILS, ISK, JPY, KRW, KZT, MAD, MXN, MYR, NGN, NOK, PEN, PHP, PKR, PLN, QAR, " +
	"RON, RSD, RUB, SAR, SEK, THB, TRY, TWD, UAH, VND, ZAR"

// The patterns are made when tables are read: not each start of the program pays for them.
var (
	camel     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([a-z])([A-Z])`) })
	thousands = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[+-]?\d{1,3}(,\d{3})+\.\d*$`) })
	word      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[a-z]*\$|[€£₹]|[a-z]+`) })
	number    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^([^\d.,+-]*)([+-]?[\d.,]+(?:[eE][+-]?\d+)?)([^\d]*)$`)
	})
)

// wordsOf returns the words of a heading in lower case: OnDemand has two.
func wordsOf(text string) []string {
	return word().FindAllString(strings.ToLower(camel().ReplaceAllString(text, "$1 $2")), -1)
}

func has(all []string, list string) bool {
	return slices.ContainsFunc(strings.Fields(list), func(x string) bool { return slices.Contains(all, x) })
}

// rateOf returns what words say of a rate, and the words that say nothing of it.
func rateOf(all []string) (r Rate, rest []string) {
	for _, w := range all {
		code := ""
		for _, x := range strings.Split(currencies, ", ") {
			if has([]string{w}, strings.ToLower(x)) {
				code = x[:3]
			}
		}
		k := slices.IndexFunc(periods, func(x period) bool { return has([]string{w}, x.words) })
		switch {
		case code != "":
			r.Currency = code
		case k >= 0:
			r.Hours = periods[k].hours
		case w != "per":
			rest = append(rest, w)
		}
	}
	return r, rest
}

// ParseRate reads a currency and a time, such as "USD/h" and "eur per month". The error wraps model.ErrInvalid.
func ParseRate(text string) (Rate, error) {
	r, rest := rateOf(wordsOf(text))
	if r.Currency == "" || r.Hours == 0 || len(rest) > 0 {
		return r, fmt.Errorf("%w prices: %q is no unit, give a currency and h, day, month or year, such as USD/h", model.ErrInvalid, text)
	}
	return r, nil
}

// add has a rate say what another one says; the error names a contradiction.
func (r *Rate) add(x Rate) error {
	if r.Currency != "" && x.Currency != "" && r.Currency != x.Currency || r.Hours > 0 && x.Hours > 0 && r.Hours != x.Hours {
		return fmt.Errorf("%w prices: they are in %s and in %s, give one unit", model.ErrInvalid, r, x)
	}
	r.Currency, r.Hours = cmp.Or(r.Currency, x.Currency), cmp.Or(r.Hours, x.Hours)
	return nil
}

// String returns the rate as a unit of prices: "USD/h".
func (r Rate) String() string {
	text := cmp.Or(r.Currency, "an unnamed currency")
	for _, p := range periods {
		if p.hours == r.Hours {
			text += "/" + strings.Fields(p.words)[0]
		}
	}
	return text
}

// In returns prices of which so many units of cost are one of the table's, as costs of a rate.
func (p Prices) In(r Rate, units float64) Prices {
	if p.Unit = tableUnit; r.Currency == "" {
		return p
	}
	if r.Hours == 0 {
		r.Hours, p.Notes = 1, append(p.Notes, "prices are for an hour; --price-unit "+r.Currency+"/month says otherwise")
	}
	p.Unit, p.Rate, p.Units = fmt.Sprintf("%g %s", 1/units, r), r, units
	return p
}

// Month returns a cost as money of a month, 0 without a currency.
func (p Prices) Month(cost float64) float64 {
	if p.Rate.Currency == "" {
		return 0
	}
	return cost * monthHours / float64(p.Rate.Hours) / p.Units
}

// InMoney is a plan's cost in the currency of its prices, a month of 730 hours to the hundredth and an hour to the
// millionth.
type InMoney struct {
	Currency string  `json:"currency"`
	Now      float64 `json:"now_per_month"`
	Then     float64 `json:"then_per_month"`
	Saved    float64 `json:"saved_per_month"`
	Bound    float64 `json:"bound_per_month"` // no plan costs less; not rounded up
	// Empty is of the nodes that are empty today and after the plan. Neither Now nor Then has it: it is saved besides.
	Empty     float64 `json:"empty_per_month,omitempty"`
	NowHour   float64 `json:"now_per_hour"`
	ThenHour  float64 `json:"then_per_hour"`
	SavedHour float64 `json:"saved_per_hour"`
	BoundHour float64 `json:"bound_per_hour"`
	EmptyHour float64 `json:"empty_per_hour,omitempty"`
}

// money returns the costs of a plan as money; nil if the prices have no currency.
func (p Prices) money(now, then, empty int64, bound float64) *InMoney {
	if p.Rate.Currency == "" {
		return nil
	}
	of := func(x int64) float64 { return math.Round(100*p.Month(float64(x))) / 100 }
	hour := func(x int64) float64 { return p.hour(float64(x)) }
	return &InMoney{p.Rate.Currency, of(now), of(then), of(now - then), math.Floor(100*p.Month(bound)) / 100, of(empty),
		hour(now), hour(then), hour(now - then), p.hourDown(bound), hour(empty)}
}

// hour returns a cost as money of an hour, to the millionth; 0 without a currency.
func (p Prices) hour(cost float64) float64 { return math.Round(1e6*p.Month(cost)/monthHours) / 1e6 }

// hourDown is hour of a bound, which isn't rounded up: 1e-9 of the millionth is for the division.
func (p Prices) hourDown(bound float64) float64 {
	return math.Floor(1e6*p.Month(bound)/monthHours+1e-9) / 1e6
}

// priceKey is for what a line of a table has a price: a type of nodes, in a zone or region if it names one.
type priceKey struct {
	kind, place string
	spot        bool
}

// typeNames are headings of the column of types, the surest first.
var typeNames = []string{"node kubernetes io instance type", "instance type", "api name", "machine type", "vm size", "node type",
	"server type", "arm sku name", "type", "instance", "sku", "size", "flavor", "flavour", "machine", "instance name", "name"}

// otherPrices are words of columns that are neither the price of a node nor that of a spot node.
const otherPrices = "reserved reservation savings saving committed commitment upfront ri cud windows rhel suse sles " +
	"vcpu vcpus cpu core gib gb interruption frequency discount"

// priceColumns are the numbers of a table's columns, -1 for those that it lacks.
type priceColumns struct {
	kind, place, market, price, spot int
	demand                           bool // the price is that of nodes on demand alone
	rates                            map[int]Rate
}

// priceHeading finds the columns by their names. The error wraps model.ErrInvalid.
func priceHeading(row []string) (c priceColumns, err error) {
	c = priceColumns{kind: -1, place: -1, market: -1, price: -1, spot: -1, rates: map[int]Rate{}}
	rank := len(typeNames)
	var prices, spots []int
	for k, name := range row {
		all := wordsOf(name)
		text := strings.Join(all, " ")
		r, _ := rateOf(all)
		c.rates[k] = r
		switch n := slices.Index(typeNames, text); {
		case n >= 0 && n < rank:
			c.kind, rank = k, n
		case n >= 0:
		case text == "capacity type" || text == "purchase option" || text == "market" || text == "lifecycle":
			c.market = k
		case has(all, "zone az"), has(all, "region location") && c.place < 0:
			c.place = k
		case has(all, otherPrices):
		case has(all, "spot preemptible preemptable"):
			spots = append(spots, k)
		case r.Currency != "" || has(all, "price pricing cost rate demand ondemand payg hourly monthly"):
			prices = append(prices, k)
		}
	}
	one := func(of []int) (int, error) {
		for _, better := range []func(int) bool{
			func(k int) bool { return has(wordsOf(row[k]), "demand ondemand payg") },
			func(k int) bool { return c.rates[k].Hours == 1 },
		} {
			if some := slices.DeleteFunc(slices.Clone(of), func(k int) bool { return !better(k) }); len(of) > 1 && len(some) > 0 {
				of = some
			}
		}
		if len(of) == 0 {
			return -1, nil
		}
		if len(of) > 1 {
			return -1, fmt.Errorf("%w prices: both %q and %q may be the price, leave one", model.ErrInvalid, row[of[0]], row[of[1]])
		}
		return of[0], nil
	}
	var other error
	c.price, err = one(prices)
	c.spot, other = one(spots)
	if c.price >= 0 {
		c.demand = has(wordsOf(row[c.price]), "demand ondemand payg")
	}
	return c, cmp.Or(err, other)
}

// ReadPrices reads a table (CSV; semicolons or tabs will do) of the prices of instance types, which nodes have as the label
// node.kubernetes.io/instance-type. The columns are found by the words of its heading: the type, the price, that of spot
// nodes, a zone or region, and whether a line is of spot nodes. The heading or the prices tell the currency and the time
// ("USD/h"), else r does. Two columns without such names are type and price, also without a heading. Empty prices are
// none. Costs count in ten-thousandths of a price an hour. The error wraps model.ErrInvalid.
func ReadPrices(text []byte, r Rate) (Prices, error) {
	rows, comma, err := priceRows(text)
	if err != nil {
		return Prices{}, fmt.Errorf("%w prices: a line isn't \"type,price\": %w", model.ErrInvalid, err)
	}
	c, err := priceHeading(rows[0])
	if err != nil {
		return Prices{}, err
	}
	if len(rows[0]) == 2 && (c.kind < 0 || c.price < 0 && c.spot < 0) {
		c.kind, c.price, c.spot = 0, 1, -1
	}
	if c.kind < 0 || c.price < 0 && c.spot < 0 {
		return Prices{}, fmt.Errorf("%w prices: no column is the type, or none the price, by its heading (%s); name them type, price and spot",
			model.ErrInvalid, strings.Join(rows[0], ", "))
	}
	if _, _, err := priceCell(rows[0][max(c.price, c.spot)], comma); err != nil || len(rows[0]) > 2 {
		rows = rows[1:]
	}
	said := Rate{}
	type line struct {
		key   priceKey
		price float64
	}
	var lines []line
	for _, row := range rows {
		for _, col := range []int{c.price, c.spot} {
			if col < 0 {
				continue
			}
			price, rate, err := priceCell(row[col], comma)
			if err == nil && price < 0 {
				err = errors.New("it is negative")
			}
			if err != nil {
				return Prices{}, fmt.Errorf("%w prices: the price of %q is %q, must be a number from 0 to 10000: %w",
					model.ErrInvalid, row[c.kind], row[col], err)
			}
			if math.IsNaN(price) {
				continue
			}
			if err := cmp.Or(said.add(c.rates[col]), said.add(rate)); err != nil {
				return Prices{}, err
			}
			key := priceKey{kind: strings.TrimSpace(row[c.kind]), spot: col == c.spot}
			if c.place >= 0 {
				key.place = strings.TrimSpace(row[c.place])
			}
			if c.market >= 0 && has(wordsOf(row[c.market]), "spot preemptible") {
				key.spot = true
			}
			lines = append(lines, line{key, price})
		}
	}
	if err := said.add(r); err != nil {
		return Prices{}, err
	}
	units := float64(priceUnits)
	for _, x := range periods {
		if said.Currency != "" && x.hours == said.Hours {
			units = float64(x.units)
		}
	}
	p := Prices{}.In(said, units)
	of := map[priceKey]int64{}
	for _, x := range lines {
		if !(x.price*units <= 1e8) {
			return Prices{}, fmt.Errorf("%w prices: the price of %q is %g, must be a number from 0 to %g",
				model.ErrInvalid, x.key.kind, x.price, 1e8/units)
		}
		cost := int64(math.Round(x.price * units))
		if old, twice := of[x.key]; twice && old != cost {
			return Prices{}, fmt.Errorf("%w prices: %q has two, %g and %g, leave one",
				model.ErrInvalid, x.key.kind, float64(old)/units, x.price)
		}
		of[x.key] = cost
	}
	all := c.spot < 0 && c.market < 0 && !c.demand // the table doesn't part spot nodes from others
	p.Of = func(n *corev1.Node) (int64, error) {
		kind, zone, region := n.Labels[corev1.LabelInstanceTypeStable], zoneOf(n), n.Labels[corev1.LabelTopologyRegion]
		for _, place := range []string{zone, region, ""} {
			if price, ok := of[priceKey{kind, place, spot(n) && !all}]; ok {
				return price, nil
			}
		}
		which := fmt.Sprintf("the type %q", kind)
		if spot(n) && !all {
			which = "spot nodes of " + which
		}
		if c.place >= 0 {
			which += fmt.Sprintf(" in %q", cmp.Or(zone, region))
		}
		return 0, &unpriced{which, n.Name}
	}
	return p, nil
}

// priceRows returns the cells of a table, and by what its heading or first line parts them.
func priceRows(text []byte) ([][]string, rune, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	table := csv.NewReader(bytes.NewReader(text))
	table.Comment = '#'
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		for _, other := range ";\t" {
			if bytes.ContainsRune(line, other) && !bytes.ContainsRune(line, ',') {
				table.Comma = other
			}
		}
		break
	}
	table.TrimLeadingSpace = table.Comma != '\t' // it would take an empty cell for space
	rows, err := table.ReadAll()
	if err == nil && (len(rows) == 0 || len(rows[0]) < 2) {
		err = errors.New("no columns")
	}
	return rows, table.Comma, err
}

// priceCell returns a price, NaN for none, with what the cell says of its unit. A comma is a decimal one in a table of
// semicolons or tabs; elsewhere it parts thousands, if a point follows.
func priceCell(cell string, comma rune) (float64, Rate, error) {
	cell = strings.TrimSpace(cell)
	if slices.Contains([]string{"", "-", "n/a", "na", "none", "null", "unavailable", "not available"}, strings.ToLower(cell)) {
		return math.NaN(), Rate{}, nil
	}
	if x, err := strconv.ParseFloat(cell, 64); err == nil && !math.IsNaN(x) {
		return x, Rate{}, nil
	}
	m := number().FindStringSubmatch(cell)
	if m == nil {
		return 0, Rate{}, errors.New("no number")
	}
	r, rest := rateOf(wordsOf(m[1] + " " + m[3]))
	if len(rest) > 0 {
		return 0, r, fmt.Errorf("%q says nothing of a price", rest[0])
	}
	digits := m[2]
	switch last := strings.LastIndex(digits, ","); {
	case last < 0:
	case comma != ',' && last > strings.LastIndex(digits, "."):
		digits = strings.Replace(strings.ReplaceAll(digits[:last], ".", "")+digits[last:], ",", ".", 1)
	case thousands().MatchString(digits):
		digits = strings.ReplaceAll(digits, ",", "")
	default:
		return 0, r, errors.New("write a decimal point")
	}
	x, err := strconv.ParseFloat(digits, 64)
	return x, r, err
}

// spot reports whether a node can be taken back by its cloud, by the labels that clouds and Karpenter give it.
func spot(n *corev1.Node) bool {
	return strings.EqualFold(n.Labels[capacityLabel], "spot") || strings.EqualFold(n.Labels["eks.amazonaws.com/capacityType"], "spot") ||
		n.Labels["cloud.google.com/gke-spot"] == "true" || n.Labels["cloud.google.com/gke-preemptible"] == "true" ||
		strings.EqualFold(n.Labels["kubernetes.azure.com/scalesetpriority"], "spot")
}

// unpriced is the error of a node without a price.
type unpriced struct{ which, node string }

func (e *unpriced) Error() string { return noPrices(map[string][]string{e.which: {e.node}}).Error() }

// Unwrap returns model.ErrInvalid.
func (*unpriced) Unwrap() error { return model.ErrInvalid }

// noPrices returns the error of nodes without prices, by what lacks them; nil without any.
func noPrices(of map[string][]string) error {
	var all []string
	for which, nodes := range of {
		all = append(all, fmt.Sprintf("%s of node %s", which, list(nodes)))
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("%w prices: there is none for %s", model.ErrInvalid, list(all))
}
