import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { RESOURCES } from '../../catalog/catalog.ts';
import { EXIT, exitCodeOf, FAILURES } from '../../catalog/failures.ts';
import { OPERATOR_MEANINGS, OPERATORS, typedForms } from '../../catalog/operators.ts';
import { DOMAIN_TYPES } from '../../catalog/stream/domains.ts';
import { tellsChanges } from '../../core/exports/bookmark.ts';
import { LOCAL_FAILURES } from '../../core/failure.ts';
import { FORMATS, formatsWhere } from '../../core/output/formats.ts';
import { CONFIG_KEYS } from '../../core/profiles/defaults.ts';
import { REPORTS } from '../office/all.ts';

type Rows = readonly (readonly [term: string, meaning: string])[];

/** A part of a page: a paragraph, terms with what they mean, or lines: of a POSIX shell, or as they stand in a file. */
export type Block = string | { readonly rows: Rows } | { readonly code: readonly string[]; readonly isFile?: true };

interface Section {
  readonly heading: string;
  readonly blocks: readonly Block[];
}

/** A page that is about no single command; `about` completes a list of pages: no capital letter, no full stop. */
export interface Page {
  readonly name: string;
  readonly about: string;
  readonly sections: readonly Section[];
}

/** The pages of `molar help`, in the order in which they are listed; each is a Markdown file in docs/help. */
export const PAGES = [
  { name: 'filters', about: 'how --filter selects records, and the keys of each resource' },
  { name: 'dates', about: 'dates relative to today, and which day today is' },
  { name: 'names', about: 'names and time zones of locations, providers and operatories' },
  { name: 'output', about: 'formats, files, columns, and what a pipe gets' },
  { name: 'exit-codes', about: 'exit codes and error codes, for scripts' },
  { name: 'shells', about: 'quotes, filters and files in sh, PowerShell and cmd' },
  { name: 'environment', about: 'variables and files that molar reads' },
  { name: 'paging', about: 'how lists are read to the end, how that is proved, and retries' },
  { name: 'exports', about: 'unattended runs: resume, receipts, changes only' },
  { name: 'scheduling', about: 'nightly runs by cron, systemd, launchd and Task Scheduler' },
  {
    name: 'reports',
    about: 'lists for the front desk and the manager: sources, days, outputs, a file for each location',
  },
  { name: 'queries', about: 'SQL over the mirror: parameters, saved statements, other programs' },
  { name: 'uploads', about: 'how folders and names of files say whose documents they are' },
  { name: 'recurrence', about: 'series of calendar events, in words or as a rule' },
  { name: 'stream', about: 'messages of the streaming channel, routing keys, and how to miss none' },
  { name: 'operations', about: 'running the server: one machine, PostgreSQL, several servers, backups, the audit log' },
  { name: 'access', about: 'tokens, clients, people, certificates, and what each may see' },
  { name: 'reliability', about: 'what is promised when something breaks, and what is not' },
] as const;

/** Reads a page from docs/help of the package at `root`, with the parts that follow from the catalog filled in. */
export function readPage(root: string, { name, about }: Omit<Page, 'sections'>): Page {
  return { name, about, sections: parsePage(readFileSync(join(root, 'docs', 'help', `${name}.md`), 'utf8')) };
}

/** The sections of a page in the few forms of Markdown that pages use: paragraphs, tables of two columns, code without blank lines. */
export function parsePage(markdown: string): readonly Section[] {
  const [, ...sections] = markdown.split(/^## /m);
  return sections.map((section) => {
    const [heading = '', ...blocks] = section.trim().split(/\n\n+/);
    return { heading, blocks: blocks.flatMap(parseBlock) };
  });
}

function parseBlock(text: string): readonly Block[] {
  const generated = /^<!-- ([\w-]+) -->$/.exec(text)?.[1];
  if (generated !== undefined) return GENERATED[generated as keyof typeof GENERATED]();
  const lines = text.split('\n');
  if (text.startsWith('```')) {
    return [{ code: lines.slice(1, -1), ...(!/^```(?:sh)?$/.test(lines[0] ?? '') && { isFile: true as const }) }];
  }
  if (text.startsWith('|')) return [{ rows: lines.slice(2).map(parseRow) }];
  return [plain(lines.join(' '))];
}

function parseRow(line: string): readonly [term: string, meaning: string] {
  const [term = '', meaning = ''] = plain(line.slice(1, -1)).split(' | ');
  return [term.trim(), meaning.trim()];
}

/** Text as a terminal and man(7) show it: the marks of code go. */
function plain(text: string): string {
  return text.replaceAll('`', '');
}

/** What stands for `<!-- name -->` in a page. */
const GENERATED = {
  reports: () => [{ rows: REPORTS.map(({ name, description }) => [name, description] as const) }],
  operators: () => [{ rows: OPERATORS.map((operator) => [typedForms(operator), OPERATOR_MEANINGS[operator]]) }],
  'filter-keys': () => RESOURCES.flatMap(filterKeysOf),
  formats: () => [{ rows: Object.entries(FORMATS).map(([format, { about }]) => [format, about]) }],
  'resumable-formats': () => [`${formatsWhere(({ isResumable }) => isResumable).join(', ')}.`],
  'exit-codes': () => [{ rows: exits.map((name) => [String(EXIT[name]), EXIT_MEANINGS[name]]) }],
  'server-errors': () => [
    {
      rows: Object.entries(FAILURES).map(([code, { status, title, next }]) => [
        code,
        `${title} (${status}, exit ${exitCodeOf(status)}). ${next}`,
      ]),
    },
  ],
  'client-errors': () => [
    { rows: Object.entries(LOCAL_FAILURES).map(([code, { exit, next }]) => [code, `Exit ${exit}. ${next}`]) },
  ],
  'config-keys': () => [{ rows: CONFIG_KEYS.map(({ key, about }) => [key, about]) }],
  'date-limits': () => [{ rows: RESOURCES.flatMap(dateLimitOf) }],
  'lists-by-page-number': () => [
    namesOf(RESOURCES.filter(({ operations }) => operations.list?.paging?.style === 'pages')),
  ],
  'lists-without-changes': () => [
    namesOf(RESOURCES.filter(({ operations: { list } }) => list?.paging !== undefined && !tellsChanges(list))),
  ],
  'domain-types': () => [`${DOMAIN_TYPES.join(', ')}.`],
} satisfies Readonly<Record<string, () => readonly Block[]>>;

const exits = Object.keys(EXIT) as (keyof typeof EXIT)[];

const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
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

type Resource = (typeof RESOURCES)[number];

function namesOf(resources: readonly Resource[]): string {
  return `${resources.map(({ name }) => name).join(', ')}.`;
}

function filterKeysOf({ name, operations }: Resource): readonly Block[] {
  const keys = Object.values((operations.list ?? operations.report ?? operations.async)?.filters ?? {});
  if (keys.length === 0) return [];
  return [
    `${name}:`,
    {
      rows: keys.map(({ key, operators, about, required }) => [
        `${key} ${operators.join(' ')}`,
        `${about}${required ? ' (required)' : ''}`,
      ]),
    },
  ];
}

function dateLimitOf({ name, operations }: Resource): Rows {
  const limit = operations.list?.dateLimit;
  if (limit === undefined) return [];
  return [[name, 'key' in limit ? `${limit.key} from year 1 on` : `${limit.parts.join(' and ')}, merged`]];
}
