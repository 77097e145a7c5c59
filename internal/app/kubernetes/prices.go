// SPDX-License-Identifier: MIT

package kubernetes

import (
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gapwise/gapwise/model"
)

// priceUnits are so many to a unit of a table's prices.
const (
	priceUnits = 10_000
	tableUnit  = "1/10000 of the table's unit"
)

// ReadPrices reads a table with a line "type,price" for each instance type
// (label node.kubernetes.io/instance-type), such as prices an hour. They count in ten-thousandths.
func ReadPrices(text []byte) (Prices, error) {
	r := csv.NewReader(strings.NewReader(string(text)))
	r.Comment, r.TrimLeadingSpace, r.FieldsPerRecord = '#', true, 2
	rows, err := r.ReadAll()
	if err != nil {
		return Prices{}, fmt.Errorf("%w prices: a line isn't \"type,price\": %w", model.ErrInvalid, err)
	}
	of := map[string]int64{}
	for k, row := range rows {
		price, err := strconv.ParseFloat(strings.TrimSpace(row[1]), 64)
		if err != nil && k == 0 {
			continue // a heading
		}
		if err != nil || !(price >= 0 && price*priceUnits <= 1e8) {
			return Prices{}, fmt.Errorf("%w prices: the price of %q is %q, must be a number from 0 to 10000", model.ErrInvalid, row[0], row[1])
		}
		of[row[0]] = int64(math.Round(price * priceUnits))
	}
	return Prices{Unit: tableUnit, Of: func(n *corev1.Node) (int64, error) {
		kind := n.Labels[corev1.LabelInstanceTypeStable]
		price, ok := of[kind]
		if !ok {
			return 0, fmt.Errorf("%w prices: there is none for the type %q of node %s", model.ErrInvalid, kind, n.Name)
		}
		return price, nil
	}}, nil
}
