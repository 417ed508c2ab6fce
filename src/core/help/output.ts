import { FORMATS } from '../output/formats.ts';
import type { Page } from './page.ts';

/** Formats of output, where it goes and what is safe to rely on (contract §2 and §5). */
export const OUTPUT: Page = {
  name: 'output',
  about: 'formats, files, columns, and what a pipe gets',
  sections: [
    {
      heading: 'Formats',
      blocks: [
        {
          rows: Object.entries(FORMATS).map(([format, { about }]): readonly [string, string] => [format, about]),
        },
        '--format names one; --json and --csv are short for two of them. The extension of --out FILE counts too.',
        'On a terminal the default is a table of the first 100 rows. In a pipe or file it is every row: CSV for lists and reports, JSON for a single record.',
      ],
    },
    {
      heading: 'Columns',
      blocks: [
        '--fields chooses columns and their order; a linked record is reached by its id, as in preferredLocation.id. --sort lastName,-lastModified sorts the complete result before --limit takes the first N; - before a field means descending. Its fields need not be shown. Records without a value come last, equal ones are sorted by id.',
        { code: ['molar patients list --fields id,lastName,preferredLocation.id --out patients.csv'] },
        'In CSV, linked objects are columns such as preferredLocation.id, lists and other objects are JSON text, and null is empty. Text that a spreadsheet would run as a formula gets an apostrophe in front; --no-escape-formulas leaves it as it is. --excel adds a byte order mark and CRLF line ends.',
        'TSV has the same columns between tabs, and no quotes: \\t, \\n, \\r and \\\\ stand for a tab, a line feed, a carriage return and a backslash in a cell, as in jq @tsv and in the COPY of PostgreSQL. So a line is always a record.',
      ],
    },
    {
      heading: 'Tables and times',
      blocks: [
        'A table leaves out columns from the right where the terminal is too narrow, and says which. Ids, dates and amounts are never cut. It shows dollars with their cents and lists separated by commas.',
        "Tables, html and xlsx show local times, such as 2026-11-24 08:00, in the zone of --timezone, else of molar config set timezone, else of this computer; --utc is short for --timezone UTC. An hour that the clocks show twice has its offset: 2026-11-01 01:30 -06:00. Other formats have the API's instants.",
        'On a terminal, headings are bold and every second line is faint. NO_COLOR=1 or TERM=dumb turn that off. Control characters in records never reach a terminal: they are replaced by a sign, in JSON by its own escapes.',
      ],
    },
    {
      heading: 'Files',
      blocks: [
        '--out FILE is written beside the file and renamed when it is complete: a failure leaves FILE as it was. A symbolic link stays and its target is replaced.',
        'The same line with --resume resumes an interrupted list. --receipt writes FILE.receipt.json with the number of records and a checksum. --since-last NAME reads what changed since the last complete run under that name, and writes it to a file beside FILE.',
        { code: ['molar patients list --since-last nightly --out patients.csv --receipt'] },
      ],
    },
    {
      heading: 'Streams',
      blocks: [
        'Standard output carries data and nothing else. Notes, warnings, progress and errors go to standard error; --quiet leaves out notes and progress. With --json an error is one JSON object on standard error. There are no colours in a pipe.',
      ],
    },
  ],
};
