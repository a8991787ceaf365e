/** A file of more than 250 lines, or a function of more than 50 lines of its own, and why it is in one piece. */
export interface Large {
  readonly lines: number;
  readonly reason: string;
}

const large = (lines: number, reason: string): Large => ({ lines, reason });

/** By path. */
export const LARGE_FILES: Readonly<Record<string, Large>> = {
  'console/admin-api.ts': large(843, 'generated: the types of the admin API, from its contract'),
  'gateway/upstream/upstream-request.ts': large(
    270,
    'one state machine: a request that may wait, be sent, and be sent again',
  ),
  'http1/client-connection.ts': large(386, 'one state machine: a connection to a backend'),
  'http1/pool.ts': large(350, 'the connections and the queue of a backend, which share their counts'),
  'http1/server-call.ts': large(293, 'one state machine: a response in each of its framings'),
  'http1/server-connection.ts': large(486, 'one state machine: a connection of a client, with its deadlines'),
};

/** By path and name. */
export const LARGE_FUNCTIONS: Readonly<Record<string, Large>> = {
  'gateway/wire/head.ts readHead': large(
    95,
    'one pass over the headers of each request: a call for each would cost it time',
  ),
  'observe/log-table.ts createLogTable': large(66, 'a table: one row for each event'),
  'run/gateway.ts createGateway': large(62, 'composition: it names each part that it hands over'),
  'run/operating.ts createOperating': large(56, 'composition: it names each part that it hands over'),
  'store/records.ts createRecords': large(64, 'the statements of SQL and what uses them'),
  'state/embedded/outbox.ts outboxIn': large(69, 'implements a port: the statements of SQL and what uses them'),
};
