import type { Page } from './page.ts';

/** What the long runs have found so far, and what each of them does: the figures stand nowhere else. */
const LONG_RUNS: readonly (readonly [run: string, found: string])[] = [
  [
    'npm run test:torture',
    'Servers were ended with kill -9 under ten writers of everything that can be written, at moments chosen by chance, and what was left was compared with what their clients had been told: 500 rounds on SQLite (November 2026; 51 of its starts were killed, too) and 50 on PostgreSQL, whose connections were cut as well; nothing was lost, doubled or done by halves. Then 200 clients for two minutes beside slow readers, stalled uploads and giant exports, on two cores that they shared with the server: 58,596 answers, none wrong, half of them within 9 ms and 99 of 100 within 52 ms; memory stayed between 163 and 174 MB.',
  ],
  [
    'npm run test:fuzz',
    '101,001 wrong requests, files, imports and connections: none was answered with 500, and none hung or ended the server.',
  ],
  [
    'npm run test:faithful',
    '10,000 runs (November 2026) of lists, counts, exports, files of changes, downloads and creates against a second service, written from the specification alone: what the specification leaves open was chosen by chance, and so were its faults. What the client brought was compared with what that service had: nothing was missing without a word, doubled or made up, and no request left the specification.',
  ],
];

/** What data goes through when something breaks: promises, their limits, and the tests that keep them (contract §5, §6). */
export const RELIABILITY: Page = {
  name: 'reliability',
  about: 'what is promised when something breaks, what is not, and how each promise is tested',
  sections: [
    {
      heading: 'The server',
      blocks: [
        {
          rows: [
            [
              'What was answered is there',
              'A write is on disk before its answer goes out (SQLite with synchronous=FULL; the commit of PostgreSQL). Neither kill -9 nor a connection to the database that is cut takes it back. Tests: test/acceptance/torture/kills.test.ts, test/acceptance/server.test.ts.',
            ],
            [
              'All of a write or nothing',
              'Record, audit entry, message of the stream, kept answer of an Idempotency-Key and the file of a document come together; what a death leaves between them is finished or removed at the next start. Tests: test/acceptance/torture/kills.test.ts, test/server/files/recovery.test.ts.',
            ],
            [
              'Imports',
              'A file is imported whole or not at all. Tests: test/server/import/refusals.test.ts, test/server/import/importer.test.ts.',
            ],
            [
              'Once, however often it is sent',
              'A POST with the same Idempotency-Key gives the first answer again for 24 hours, after a restart and from another server on the same database, too. Tests: test/contract/idempotency.test.ts, test/server/http/idempotency.test.ts, test/server/sharing/sharing.test.ts.',
            ],
            [
              'A full disk, a database or storage that is away',
              'Writes are refused with 503 and a reason, nothing is half written, and writing goes on when it can. A damaged or newer database is told and left as it is. Tests: test/acceptance/torture/fulldisk.test.ts, test/acceptance/torture/damage.test.ts, test/server/store/postgres/away.test.ts, test/acceptance/objectstorage.test.ts.',
            ],
            [
              'Several servers',
              'Two servers on one database lose and double nothing, whichever is killed; they share ids, numbers, keys and limits. Tests: test/acceptance/cluster/twoservers.test.ts, test/server/sharing/sharing.test.ts.',
            ],
            [
              'One writer of a folder',
              'A second server on a data folder is refused; the folder is free when the first is gone, killed or not. Tests: test/acceptance/server.test.ts, test/server/store/sqlite/lock.test.ts.',
            ],
            [
              'An orderly end',
              'SIGTERM and SIGINT answer what has begun, for 10 seconds at most, and exit 0. Tests: test/acceptance/server.test.ts, test/acceptance/streamrestart.test.ts.',
            ],
            [
              'Backups',
              'One state of the database with every file of it, while the server writes; one that is interrupted leaves nothing under its name. Tests: test/acceptance/maintenance.test.ts, test/server/maintenance/backup.test.ts, test/server/maintenance/restore.test.ts.',
            ],
            [
              'Migrations between stores',
              'Killed again and again they come to their end with all rows once. Tests: test/acceptance/maintenance.test.ts, test/server/maintenance/migrate.test.ts.',
            ],
          ],
        },
      ],
    },
    {
      heading: 'The stream',
      blocks: [
        {
          rows: [
            [
              'Order',
              'Messages have numbers in the order of commits, without gaps, on all servers of a database. Tests: test/server/stream/outbox.test.ts, test/acceptance/torture/kills.test.ts.',
            ],
            [
              'At least once',
              'A listener that gives its last id misses nothing while messages are kept, and is told when they are gone; after a crash the last ones may come again, with the same numbers. So to the broker. Tests: test/server/stream/crowd.test.ts, test/server/stream/retention.test.ts, test/server/stream/relay/relay.test.ts, test/acceptance/stream.test.ts, test/acceptance/relay.test.ts.',
            ],
            [
              'A copy by listening',
              'Who only listens knows every record as it is. Test: test/server/stream/replica.test.ts.',
            ],
            [
              'Async results',
              'A delivery that a death interrupts is completed by the next server. Test: test/acceptance/streamrestart.test.ts.',
            ],
          ],
        },
      ],
    },
    {
      heading: 'The client',
      blocks: [
        {
          rows: [
            [
              'Never half a file',
              'FILE of --out is the old one or the whole new one; json is whole or nothing in a pipe, too. Tests: test/core/output/atomicfile.test.ts, test/core/output/sink.test.ts, test/acceptance/failures.test.ts.',
            ],
            [
              'Every record once',
              'A list ends with an empty page only; a page that fails, fails the command, and ids that repeat or step back are an error where a list is read by its ids. What came is compared with the own count of the service, whatever that leaves out by itself: too few records are looked for once more, and are an error then (molar help paging). Tests: test/core/pages/walk.test.ts, test/core/pages/parallel.test.ts, test/core/pages/complete.test.ts, test/faithful/runs.test.ts, test/acceptance/faults-exports.test.ts.',
            ],
            [
              'Compressed answers',
              'Decoded in bounded memory: 64 MiB end an answer, and so does an expansion of more than a thousand times. Data that is cut off, damaged or followed by something else is fetched again. Test: test/core/transport/decoding.test.ts.',
            ],
            [
              '--resume',
              'The bytes are those of an undisturbed run, whenever and however often it was killed. Tests: test/core/exports/resume.test.ts, test/acceptance/faults-kills.test.ts.',
            ],
            [
              'Signals',
              'Ctrl-C, SIGTERM and a closed terminal end a run at any step, with exit code 130, 143 or 129, nothing temporary left, and what --resume goes on with. Test: test/acceptance/hostile/signals.test.ts.',
            ],
            [
              '--since-last',
              'What was changed while a run went on comes with the next one; the bookmark moves after a whole run only. Tests: test/core/exports/bookmark.test.ts, test/acceptance/faults-increments.test.ts.',
            ],
            [
              'Uploads',
              'Each file is stored once, over a faulty line and across kills of client and server, on servers without Idempotency-Key as well and whatever ids they give. Before a file is sent again, the documents of its owner are looked through for one of its name with the same bytes; while one that may be it cannot be read, nothing is sent. A file is refused for its patient only when the server says that there is none. Tests: test/core/documents/uploads/uploadall.test.ts, test/core/documents/uploads/owners.test.ts, test/acceptance/faults-uploads.test.ts, test/acceptance/faults-uploads-keyless.test.ts, test/acceptance/uploads.test.ts.',
            ],
            [
              'Downloads',
              'A file is whole and what the server told of it, or it is not there; a run that stopped goes on. Test: test/acceptance/download.test.ts.',
            ],
            [
              'Exact to the cent',
              'Money is added in whole numbers, of cents or of finer parts where amounts have them, and the aging report ends on a check that it adds up; tests compute it anew from the ledger. Tests: test/core/reports/money.test.ts, test/core/reports/agingmoney.test.ts, test/server/reports/aging/generated.test.ts.',
            ],
            [
              'Retries',
              'What can be sent again safely is, six times in all, as Retry-After says. Tests: test/core/transport/client.test.ts, test/acceptance/faults.test.ts.',
            ],
            [
              'Once, whatever came of a POST',
              'After a cut, a timeout, any 5xx and an answer that is none, the server is asked for a record that means what was sent, at once and again a second or more later; only when there is none is the POST sent again, and one that is there counts as created. Times are compared by the clock of the server. Where that cannot be found out (molar api with a path that molar does not know, a list that is refused, a record without its time of change), the command ends with network.outcome_unknown and sends nothing again. Tests: test/core/settling/created.test.ts, test/core/settling/meaning.test.ts, test/core/transport/client.test.ts, test/commands/api.test.ts.',
            ],
          ],
        },
      ],
    },
    {
      heading: 'What is not promised',
      blocks: [
        {
          rows: [
            [
              'Disks that lie',
              'A disk or a virtual machine that says "written" before it is can lose answered writes when the power goes; so can PostgreSQL with fsync=off or synchronous_commit=off. molar does not change these settings.',
            ],
            [
              'The death of a machine',
              'What is on one disk is lost with it. Copies are made by molar server backup, by PostgreSQL and by object storage, as often as you arrange it.',
            ],
            [
              'A server that stores late',
              'A server that ignores the Idempotency-Key and is still storing a record when it has been looked for twice, a second or more apart, can end up with two. It is looked at once more after the attempt that succeeded, and a warning names the ids when there are two. Of two records that mean the same, made within two seconds, the one that is there counts for both when the answer to the other is lost. A like record of the two minutes before makes the outcome unknown, as does a newer one that differs only in what a server may change on storing.',
            ],
            ['Exactly once on the stream', 'Receivers drop what they have had, by its id.'],
            [
              'One moment for a whole export',
              'Pages are read one after the other: records that change meanwhile are exported as they were or as they are. Those that are deleted do not show up in --since-last; --full-ids tells them.',
            ],
            [
              'Totals of the moment',
              'With several servers on PostgreSQL, a total can be as old as it takes the news of a commit to come: a moment, and five seconds at most when a connection has died. Records are never older than the last commit.',
            ],
            [
              'Two people at one record',
              'The last write of a field stands. documents update --add-tag and --remove-tag read the tags and send them back: of two at the same moment one can be lost.',
            ],
            [
              'Reads in the audit log',
              'They are written a moment after the answer: kill -9 loses those of the last quarter of a second.',
            ],
            ['Limits on failed credentials', 'Each server counts for itself, and begins anew when it is started.'],
            [
              'Messages for ever',
              'They are kept for --stream-retention days, a week when not given. Who comes later is told to read everything again.',
            ],
          ],
        },
      ],
    },
    {
      heading: 'Long runs',
      blocks: [
        'The tests above run in npm test, in a short form where chance decides. The long forms, and what they have found:',
        { rows: LONG_RUNS },
        'What was found on the way was mended, and is a test of its own: test/contract/fuzz/found.test.ts. Paths are those of the source.',
      ],
    },
  ],
};
