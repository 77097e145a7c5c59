// What a person who doesn't know the problems is told.

export const kinds = [
  { kind: "dag", name: "Task graph", question: "Tasks wait for each other's data, machines differ, transfers share the network. Which machine runs which task, so that the last one ends as early as possible?" },
  { kind: "batch", name: "Batch queue", question: "Parallel jobs arrive at a cluster and wait. When does each run, and on which processors, so that their mean response time is short?" },
  { kind: "reservation", name: "Reservations", question: "Requests ask for processors within a window of time. Which are accepted, and when do they run?" },
  { kind: "tvc", name: "Virtual clusters", question: "Groups of virtual machines need slots in a data centre and bandwidth between them. Which fit, where, and when?" },
  { kind: "vcsched", name: "Virtual machines", question: "Virtual machines share hosts. Where does each go, so that the worst-off gets as much of the CPU that it needs as possible?" },
  { kind: "consolidation", name: "Fewer hosts", question: "Tasks run on hosts that cost money, under rules: apart, together, spread. Which hosts can be given back, and which tasks have to move for that?" },
];

export const roles = {
  critical: "critical: holds the objective up",
  tight: "tight: it holds the result down",
  moved: "moved from another host",
  declined: "declined",
  waiting: "waiting",
  suspended: "suspended",
  background: "in the background",
  transfer: "transfer",
  lost: "killed, work lost",
  share1: "link load up to ¼",
  share2: "link load up to ½",
  share3: "link load up to ¾",
  share4: "link load above ¾",
};
