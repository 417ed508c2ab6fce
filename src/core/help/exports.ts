import { RESOURCES } from '../../catalog/catalog.ts';
import { tellsChanges } from '../exports/bookmark.ts';
import { formatsWhere } from '../output/formats.ts';
import type { Page } from './page.ts';

const lists = RESOURCES.flatMap(({ name, operations: { list } }) =>
  list?.paging === undefined ? [] : [{ name, isIncremental: tellsChanges(list) }],
);
const whole = lists.filter(({ isIncremental }) => !isIncremental).map(({ name }) => name);

const resumable = formatsWhere(({ isResumable }) => isResumable);

/** Exports that nobody watches: files, resuming, receipts, increments, deletions, cron (contract §5). */
export const EXPORTS: Page = {
  name: 'exports',
  about: 'unattended runs: resume, receipts, changes only, cron',
  sections: [
    {
      heading: 'One file, or a folder',
      blocks: [
        {
          code: [
            'molar patients list --out patients.csv --receipt',
            'molar export patients transactions --to ./nightly --since-last nightly --resume',
          ],
        },
        'Either way a file is replaced only when all of it has come; until then it is as it was. One line on standard error says what was written, also in a job; --quiet leaves it out. Progress is shown on a terminal only.',
        'A second run to the same file or folder is refused (exit 9) while the first one lasts.',
      ],
    },
    {
      heading: 'Files beside it',
      blocks: [
        {
          rows: [
            ['FILE.part', 'what has come so far, readable by its owner only'],
            ['FILE.part.json', 'how far that is, and of which export: for --resume'],
            ['FILE.receipt.json', 'rows, pages, ids, filter, times, warnings of the server and sha256 of a whole file'],
            ['summary.json', 'of molar export: how the run ended, and rows, retries and time of each file'],
          ],
        },
        'summary.json says "reason": "running" from the start of a run, so that a run that was killed is not taken for a complete one. molar export verify FILE compares a file with its receipt, without asking the server.',
      ],
    },
    {
      heading: 'After a run that stopped',
      blocks: [
        'The same line with --resume goes on behind the last page that was written, after a signal, a kill, a full disk or a server that was away; the file is the same, byte for byte, as that of an undisturbed run. Where nothing is left to go on with, it is a new run, so a job may always have --resume. Without --resume a run starts over.',
        `Resuming is refused, and the difference named, when the URL, the organization, the filter, the fields, the format or --limit is another one. ${resumable.join(', ')} can be resumed; other formats start over, and so does a list that is read by page number (molar help paging). Nothing is kept of a run that the server refused at its first page.`,
        '--max-duration stops molar export in time (exit 7, or 6 when some files are there); the next run with --resume goes on.',
      ],
    },
    {
      heading: 'Only what changed',
      blocks: [
        '--since-last NAME brings every record on the first run, then those modified since the last complete run began, less 5 minutes. Records of these minutes that came before and are still the same are left out. The bookmark moves last, when all files are whole: a run that failed, or whose reader went away, changes nothing.',
        'Changes never replace a whole file. The first run of a name writes patients.csv; each later one writes what changed to a file of its own, named for the start of the run (UTC), such as patients.changes.2026-11-22T05-00-00Z.csv, and no file when nothing changed. "kind" in receipts and summary.json is whole or changes. list --since-last NAME --out FILE does the same beside FILE. --resume continues an interrupted run in the file that it began.',
        'To keep a copy up to date, load the whole file once, then each file of changes in the order of their names: each record replaces the one with its id. To make the whole file anew, reset the bookmark and run the line again.',
        `These have no filter for changes and come whole each time: ${whole.join(', ')}.`,
        { code: ['molar export bookmarks list', 'molar export bookmarks reset nightly'] },
      ],
    },
    {
      heading: 'Deleted records',
      blocks: [
        'The API does not tell of deleted records in its lists. molar export --full-ids also writes all ids that exist, one file a resource, such as patients.ids.csv: an id that you have and that file does not was deleted.',
      ],
    },
    {
      heading: 'In cron',
      blocks: [
        'At five every morning is 0 5 * * * in front of this line:',
        { code: ['molar export ALL --to $HOME/nightly --since-last nightly --resume --max-duration 2h'] },
        'patients.csv stays what the first night wrote; each later night adds a file of changes. Exit 0 means that all files are there; 6 that some are. Give the connection by a profile or by variables that cron has.',
      ],
    },
    {
      heading: 'Faster',
      blocks: [
        '--parallel N asks for N pages at once and writes the same bytes. All requests together stay at the rate that the server allows. Memory does not grow with the number of records.',
        'Answers are asked for in compressed form: brotli and gzip, and Zstandard with Node 22.15 or newer. Where a server compresses, an export over a slow line takes a fifth of the time or less.',
      ],
    },
  ],
};
