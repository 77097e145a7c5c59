// SPDX-License-Identifier: MIT

package instances

// LublinTasks is for tests of its distribution.
var LublinTasks = lublinTasks
