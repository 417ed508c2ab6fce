import type { Page } from './page.ts';

/** How to run the embedded server for others: on one machine, with PostgreSQL, and as several servers. */
export const OPERATIONS: Page = {
  name: 'operations',
  about: 'running the server: one machine, PostgreSQL, several servers, backups, the audit log',
  sections: [
    {
      heading: 'One machine',
      blocks: [
        'Everything is in one folder: an SQLite database and the files of documents. Only this user can read it. Put a proxy that does TLS in front, or give the server a certificate.',
        {
          code: [
            'molar serve --data /srv/molar --tls-cert server.pem --tls-key server.key --host 0.0.0.0',
            'molar serve --data /srv/molar --behind-proxy',
          ],
        },
        'A write is on disk before it is answered. One server at a time has a folder; molar server commands work beside it.',
      ],
    },
    {
      heading: 'One machine with PostgreSQL',
      blocks: [
        'PostgreSQL 14 or newer holds the records; the files stay in a folder. The password comes from PGPASSWORD or ~/.pgpass, not from the address, which other users can see.',
        {
          code: [
            'createdb molar',
            'molar serve --database postgres://molar@localhost/molar --files /srv/molar/files --behind-proxy',
          ],
        },
        'The first server makes the tables, and a newer molar brings them up to date; servers that start together wait for each other. The address takes ?readers=8&writers=4, the connections of one server, and ?prepare=off behind a pooler that gives each transaction another connection (PgBouncer in transaction mode).',
      ],
    },
    {
      heading: 'Several servers',
      blocks: [
        'Servers with the same --database and the same --files are one service: put them behind a proxy that sends a request to any of them and asks /readyz whether it is there. Files go to object storage, or to a folder that all of them mount.',
        {
          code: [
            'export PGPASSWORD AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_REGION MOLAR_AMQP_PASSWORD',
            'molar serve --behind-proxy --host 0.0.0.0 --database postgres://molar@db.internal/molar --files s3://practice-files/molar --amqp amqps://molar@mq.internal/molar',
          ],
        },
        'They share rate limits, idempotency keys and tokens. Changes of one organization are made one after another, whichever server they come to; organizations do not wait for each other. The stream is one: numbers follow the order of commits on all servers. One server at a time relays to the broker; when it dies, another takes over within some ten seconds and may send the last messages again, with the same numbers.',
        'On SIGTERM a server answers what it has begun and ends; kill one after another for an update without a break. Clients that send a write again with its Idempotency-Key, as molar does, notice nothing of a server that dies.',
      ],
    },
    {
      heading: 'How large it has to be',
      blocks: [
        'Measured with 500,000 patients and 2 million transactions on two cores and a disk that syncs in 0.2 ms, everything durable and audited (npm run bench -- stores):',
        {
          rows: [
            ['SQLite', '6.0 GB on disk; imported in 5 minutes with 210 MB of memory.'],
            [
              'PostgreSQL 15',
              '7.0 GB on disk with its usual settings; imported in 10.5 minutes with 215 MB of memory.',
            ],
            ['molar serve', '170 MB of memory while everything is exported; 80 MB when it has nothing to do.'],
            ['Exports', '29,000 patients or 47,000 transactions a second through client and server together.'],
          ],
        },
        'By calculation from that: about 2.5 KB of disk for each record on SQLite, 2.9 KB on PostgreSQL, and documents as large as they are. A group with 3 million patients and 13 million transactions a year needs some 8 GB for its patients and 40 GB for each year of transactions: PostgreSQL, with the memory to hold the year in use. Every read adds some 250 bytes to the audit log: a million reads a day are 90 GB a year, so choose --audit-retention by what you must keep. Beyond one organization nothing waits for another; within one, writes follow each other.',
      ],
    },
    {
      heading: 'What to watch',
      blocks: [
        {
          rows: [
            ['/healthz', 'The process runs.'],
            ['/readyz', 'It can answer: 503 while the database is away.'],
            [
              '/metrics',
              'Prometheus: rate and time of requests by route, database connections, stream, relay, deliveries.',
            ],
            ['molar_relay_lag_messages', 'Messages the broker does not have yet: should come back to 0.'],
            ['molar_database_connections_waiting', 'Work that waits for a connection: should be 0 most of the time.'],
            ['molar_async_deliveries_waiting', 'Async deliveries that are not complete.'],
          ],
        },
        'The log goes to standard error, one JSON object a line: request id, method, route, status, time. It has no query strings, no bodies, no tokens and no names.',
      ],
    },
    {
      heading: 'Backups',
      blocks: [
        'molar server backup copies the database and the files while the server runs, and checks the copy; molar server restore puts it into an empty folder or database. molar server check looks for damage at any time. molar server migrate takes a folder over into PostgreSQL, or back, and goes on where it was interrupted.',
        {
          code: [
            'molar server backup /backup/2026-11-21 --data /srv/molar',
            'molar server restore /backup/2026-11-21 --data /srv/restored',
            'molar server check --data /srv/restored',
            'molar server migrate --from /srv/molar --to postgres://molar@localhost/molar --files-to /srv/files',
          ],
        },
      ],
    },
    {
      heading: 'Audit log',
      blocks: [
        'Every read and every change is noted: when, who (a token, a download link, an import), from which address, which operation, which records or how many, and the keys of the filter; never a value. A change and its entry are committed together. Reads are noted a moment after they are answered; a server that is killed loses those of its last quarter of a second. When they cannot be written, nothing is read.',
        'Each entry carries a hash over itself and the one before. Keep the end that molar server audit verify prints in another place, and give it back later as --expect: then nothing up to there can have been changed.',
        {
          code: [
            'molar server audit verify --data /srv/molar',
            'molar server audit export --from 2026-11-01 --to 2026-12-01 --format csv --data /srv/molar',
          ],
        },
        'Entries are kept for six years, or as --audit-retention says.',
      ],
    },
  ],
};
