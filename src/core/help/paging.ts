import { RESOURCES } from '../../catalog/catalog.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../catalog/paging.ts';
import type { Page } from './page.ts';

const limited = RESOURCES.flatMap(({ name, operations }) => {
  const key = operations.list?.defaultDate?.key;
  return key === undefined ? [] : [[name, key] as const];
});
const byPage = RESOURCES.filter(({ operations }) => operations.list?.paging?.style === 'pages').map(({ name }) => name);

/** How lists are read to their end, and what makes them complete (contract §5, D13). */
export const PAGING: Page = {
  name: 'paging',
  about: 'how lists are read to the end, retries, and dates of a server',
  sections: [
    {
      heading: 'How much is read',
      blocks: [
        'On a terminal a table stops after 100 records and says so. In a pipe or file, or with --format or --out, every record is read. --limit N stops after N, --all reads every record.',
        `--page-size asks for that many records at a time: 1 to ${MAX_PAGE_SIZE}; a server gives ${DEFAULT_PAGE_SIZE} when it is not asked. It changes no result.`,
      ],
    },
    {
      heading: 'Complete or an error',
      blocks: [
        'Pages follow the last id of the page before, with the same filter, until a page is empty. Ids must increase: a repeat or a step back is an error (exit 8), never output that is silently short. A page that fails, fails the command.',
        `Read by page number, since the API has no ids to follow there: ${byPage.join(', ')}.`,
      ],
    },
    {
      heading: 'Dates that a server adds',
      blocks: [
        'Without a date filter the server leaves out old records of these. molar asks for all of them by an early date; --server-defaults leaves it to the server.',
        { rows: limited },
      ],
    },
    {
      heading: 'Retries',
      blocks: [
        'Reads, and writes whose outcome is known, are tried again after 408, 429, 500, 502, 503, 504 and connection failures, as long as Retry-After says or with growing pauses. --max-retries counts the retries after the first attempt. 408 also halves the page size.',
      ],
    },
  ],
};
