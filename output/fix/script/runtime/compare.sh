
set -u
status=0
drift=
ran=
trap 'say "ended by a signal.${ran:+ $ran was shut down: power it on}"; exit 1' HUP INT TERM

say() { printf '%s\n' "$*" >&2; }
stop() { say "$*"; exit 1; }
command -v jq >/dev/null || stop "jq is missing"

# state says how a VM or host stands to the plan: done, write, runs (it has to be off first), or drift and why.
state() { # KIND ID WANTED
	now=$(now "$1" "$2") || return 1
	printf '%s' "$now" | jq -r --argjson want "$3" '
		. as $now | [$want.rows[] | . as $r
			| (if $r.key then $now.settings[$r.key | ascii_downcase] else $now[$r.what] end // "") as $is
			| $r + {is: $is, at: (if $r.gone then $is != $r.from else $is == $r.to end)}] as $rows
		| [$rows[] | select((.loose or .at or .is == .from) | not)
			| "\(.key // .what) is \(.is | tojson), not \(.from | tojson)"] as $drift
		| if $drift != [] then "drift: " + ($drift | join("; "))
		elif [$rows[] | select((.quiet or .at) | not)] == [] then "done"
		elif $now.power == "suspended" then "drift: it is suspended"
		elif $want.off and $now.power == "on" then "runs"
		else "write" end'
}

check() { # KIND ID WANTED
	found=$(state "$1" "$2" "$3") || stop "$2 cannot be read. Nothing was changed"
	case $found in
	drift*) say "$2: $found"; drift=yes ;;
	esac
}

apply() { # KIND ID WANTED FUNCTION
	found=$(state "$1" "$2" "$3") || stop "$2 cannot be read"
	case $found in
	done) say "$2: it is so already"; return ;;
	drift*) stop "$2: $found. It was not changed" ;;
	runs)
		if [ "$power" != yes ]; then
			say "$2: it runs and has to be off; it was not changed"
			status=2
			return
		fi
		shutdown "$2" || stop "$2: its guest does not shut down; it was not changed"
		ran=$2
		tries=300
		until [ "$(now "$1" "$2" | jq -r .power)" = off ]; do
			tries=$((tries - 1))
			[ $tries -gt 0 ] || stop "$2: it was told to shut down and still runs after 10 minutes; it was not changed"
			sleep 2
		done
		;;
	esac
	failed=
	"$4" || failed="it was not changed, or only in part"
	found=$(state "$1" "$2" "$3") || found="it cannot be read"
	[ -n "$failed" ] || [ "$found" = done ] || failed="it does not keep what was written: $found"
	if [ -n "$ran" ]; then
		start "$2" || stop "$2: it was shut down and does not power on.${failed:+ $failed}"
		ran=
	fi
	[ -z "$failed" ] || stop "$2: $failed"
	say "$2: changed"
}
