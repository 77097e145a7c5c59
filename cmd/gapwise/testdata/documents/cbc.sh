# cbc.sh MODEL SOLUTION SECONDS: CBC's solution as lines NAME VALUE after a status.
cbc "$1" -seconds "$3" -timeMode elapsed -solve -solution "$2.cbc" >&2
values() { tail -n +2 "$2.cbc" | sed 's/^\*\*//' | while read -r i name value cost; do echo "$name $value"; done; }
case $(head -n 1 "$2.cbc") in
"Optimal -"*) echo optimal; values "$@" ;;
*nfeasible*) echo infeasible ;;
*"no integer"*) echo unknown ;;
*) echo feasible; values "$@" ;;
esac >"$2"
