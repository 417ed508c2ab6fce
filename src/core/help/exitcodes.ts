import { EXIT, exitCodeOf, FAILURES } from '../../catalog/failures.ts';
import { LOCAL_FAILURES } from '../failure.ts';
import type { Page } from './page.ts';

const MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  done: 'Done.',
  unexpected: 'Unexpected: a defect of molar.',
  usage: 'Usage or local validation; no request was sent.',
  auth: 'Not authenticated or not allowed (401, 403).',
  notFound: 'Not found (404).',
  refused: 'Refused by the server (400, 405, 413, 415).',
  partial: 'Partial: some items failed, the rest is done.',
  throttled: 'Rate-limited or timed out after all retries (429, 408).',
  network: 'Server or network failure after all retries.',
  file: 'Local file or disk.',
  hungUp: 'The terminal was closed (SIGHUP).',
  interrupted: 'Interrupted (SIGINT).',
  terminated: 'Terminated (SIGTERM).',
};

/** Exit codes, and the stable error codes behind each, from the failure tables. */
export const EXIT_CODES: Page = {
  name: 'exit-codes',
  about: 'exit codes and error codes, for scripts',
  sections: [
    {
      heading: 'Exit codes',
      blocks: [
        'The same in every output mode.',
        {
          rows: (Object.keys(EXIT) as (keyof typeof EXIT)[]).map((name): readonly [string, string] => [
            String(EXIT[name]),
            MEANINGS[name],
          ]),
        },
        'A closed pipe, as with | head, ends a command with 0.',
      ],
    },
    {
      heading: 'Errors',
      blocks: [
        'Standard error has the cause, the fields at fault, the id of the request, and a next step. With --json it is one object: {"error": {code, message, exitCode, status, requestId, errors, hint}}; notes, where it is there, lists what was to be said before, such as warnings of the server.',
      ],
    },
    {
      heading: 'Error codes of the server',
      blocks: [
        {
          rows: Object.entries(FAILURES).map(([code, { status, title, next }]): readonly [string, string] => [
            code,
            `${title} (${status}, exit ${exitCodeOf(status)}). ${next}`,
          ]),
        },
      ],
    },
    {
      heading: 'Error codes of molar',
      blocks: [
        {
          rows: Object.entries(LOCAL_FAILURES).map(([code, { exit, next }]): readonly [string, string] => [
            code,
            `Exit ${exit}. ${next}`,
          ]),
        },
      ],
    },
  ],
};
