import { RESOURCES } from '../../catalog/catalog.ts';
import { DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE } from '../../catalog/paging.ts';
import type { Page } from './page.ts';

const limited = RESOURCES.flatMap(({ name, operations }) => {
  const limit = operations.list?.dateLimit;
  if (limit === undefined) return [];
  return [[name, 'key' in limit ? `${limit.key} from year 1 on` : `${limit.parts.join(' and ')}, merged`] as const];
});
const byPage = RESOURCES.filter(({ operations }) => operations.list?.paging?.style === 'pages').map(({ name }) => name);

/** How lists are read to their end, and what makes them complete (contract §5, D48). */
export const PAGING: Page = {
  name: 'paging',
  about: 'how lists are read to the end, how that is proved, and retries',
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
        'Pages follow the last id of the page before, with the same filter, until a page is empty. Ids must increase: a repeat or a step back is an error (exit 8), never output that is silently short; a list of events that a service orders otherwise is read by page number. A page that fails, fails the command.',
        `Read by page number, since the API has no ids to follow there: ${byPage.join(', ')}. Their rows may come in any order and are remembered by id. All pages of such a list have one size: when a page keeps timing out, the list is read again from the start with smaller pages. A record that is deleted meanwhile moves others to a page that was read already, so the pages are read again, for what is new, unless the count stayed the same.`,
      ],
    },
    {
      heading: 'Records of any age',
      blocks: [
        'Of these a service may leave out old records when no date is asked for. molar therefore adds a filter that asks for records of any age, in lists, counts and exports; --server-defaults leaves it to the service which records it brings.',
        { rows: limited },
        'A bound on a date leaves out records without that date. Where there may be such records, molar compares the counts with and without the bound and brings what is missing at the end, or, where nothing is counted, asks both ways.',
        'A service that times out (408) on a wide range is asked slice by slice of time. A service that requires a filter on locations is asked for all of them.',
      ],
    },
    {
      heading: 'Proof',
      blocks: [
        "At the end of a complete list the records that came are compared with the service's own count of the same filter. When there are too few, molar looks for them once more, and then ends with pages.incomplete (exit 8). A receipt says how completeness was proved:",
        {
          rows: [
            ['count', 'at least as many records came as the service counts'],
            ['bound', 'the service does not count here; records of any age were asked for'],
            [
              'walk',
              'the service does not count here, and the API limits nothing by date; the list was read to its end',
            ],
            ['none', 'not everything was asked for: --limit or --server-defaults'],
          ],
        },
        'What cannot be proved is said once on standard error and stands in the receipt, such as the records before 1980 of a service that times out on all of them.',
      ],
    },
    {
      heading: 'Retries',
      blocks: [
        'Reads, updates and deletes are tried again after 408, 429, 500, 502, 503, 504 and connection failures, after the time that Retry-After says or with growing pauses. --max-retries counts the retries after the first attempt. 408 also halves the page size, except in lists that are read by page number.',
        'Of a POST only 429 and a connection that was never made are known outcomes: it is sent again. After 408, any 5xx, a connection that broke and an answer that is none, the server is asked first whether the record is there (molar help reliability).',
      ],
    },
  ],
};
