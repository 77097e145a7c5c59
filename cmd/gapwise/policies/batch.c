// First come, first served: cc -O2 -o policy policy.c && gapwise solve -a online:./policy jobs.json
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int width[1 << 24]; // processors of each job, by its number

int main(void) {
    int head = 1, last = 0, idle = 0; // jobs from head to last are waiting
    char *line = NULL;
    size_t size = 0;
    while (getline(&line, &size, stdin) > 0) { // {"now":12.5,"events":[{"timestamp":12.5,"type":...,"data":...},...]}
        char now[32], *e = line;
        snprintf(now, sizeof now, "%.*s", (int)strcspn(line + 7, ","), line + 7);
        while ((e = strstr(e, "\"type\":\"")) != NULL) {
            e += strlen("\"type\":\"");
            if (strncmp(e, "SIMULATION_BEGINS", 17) == 0)
                idle = atoi(strstr(e, "\"nb_resources\":") + 15);
            else if (strncmp(e, "JOB_SUBMITTED", 13) == 0)
                width[last = atoi(strstr(e, "w0!") + 3)] = atoi(strstr(e, "\"res\":") + 6);
            else if (strncmp(e, "JOB_COMPLETED", 13) == 0)
                idle += width[atoi(strstr(e, "w0!") + 3)];
        }
        printf("{\"now\":%s,\"events\":[", now);
        for (char *comma = ""; head <= last && width[head] <= idle; idle -= width[head++], comma = ",")
            printf("%s{\"timestamp\":%s,\"type\":\"EXECUTE_JOB\",\"data\":{\"job_id\":\"w0!%d\"}}", comma, now, head);
        puts("]}");
        fflush(stdout);
    }
}
