SELECT host, entity, gid,
       count(*) FILTER (WHERE local / (local + remote) < 0.8) AS low,
       max(remote) AS most,
       min(time) FILTER (WHERE remote = most_remote) AS first_most,
       count(DISTINCT day) AS days
FROM (
  SELECT *, max(remote) OVER (PARTITION BY host, entity, gid) AS most_remote
  FROM (
    SELECT host, entity, gid, time, day,
           max(value) FILTER (WHERE counter = 'vm_numa_local_bytes') AS local,
           max(value) FILTER (WHERE counter = 'vm_numa_remote_bytes') AS remote
    FROM lake
    WHERE kind = 'vm' AND counter IN ('vm_numa_local_bytes', 'vm_numa_remote_bytes')
    GROUP BY host, entity, gid, time, day
  )
  WHERE local + remote > 0
)
GROUP BY host, entity, gid
ORDER BY host, entity, gid
