import type { Config } from '@oclif/core/interfaces';
import { RESOURCES } from '../../catalog/catalog.ts';
import type { Operation, Resource } from '../../catalog/define.ts';
import { selectableNames } from '../../catalog/fieldselection.ts';
import { worded } from '../../catalog/operators.ts';
import { SCOPES } from '../../catalog/scopes.ts';
import { DATE_WORDS } from '../../core/dates/relativedate.ts';
import { NAME_KINDS } from '../../core/names/namerows.ts';
import { pluralOf } from '../../core/names/namesfile.ts';
import { CONFIG_KEYS } from '../../core/profiles/defaults.ts';
import { EXPORTABLE } from '../exporting/exportplan.ts';
import { kebab } from '../flags/values.ts';
import { PAGES } from '../help/pages.ts';
import { REPORTS } from '../office/all.ts';
import { DayReader } from '../office/days.ts';
import { sqlWords } from './sqlwords.ts';

/**
 * What can be typed for a flag or argument. `list`: words joined by commas. `sort`: the same, each perhaps after a hyphen.
 * `sql`: names within a statement. `filter`: beginnings of terms, which go on. `any`: something that a script cannot know. `profiles`, `queries`, `locations`,
 * `providers`, `operatories`: names that only the machine has; the last three may be joined by commas.
 */
export type Values =
  | { readonly kind: 'words' | 'list' | 'sort' | 'sql' | 'filter'; readonly words: readonly string[] }
  | { readonly kind: 'file' | 'profiles' | 'queries' | 'any' | NamedKind };

/** What has names in the names file of the profile. */
export type NamedKind = (typeof NAMED_KINDS)[number];
export const NAMED_KINDS = NAME_KINDS.map(pluralOf);

interface Part {
  readonly name: string;
  readonly options?: readonly string[] | undefined;
  readonly helpValue?: string | readonly string[] | undefined;
}

const ANY: Values = { kind: 'any' };

/** Of the values that are read, those that help shows: others are read only to be refused with the reason. */
function shownOf(options: readonly string[], helpValue: Part['helpValue']): readonly string[] {
  const shown = String(helpValue ?? '').split('|');
  return options.some((option) => shown.includes(option))
    ? options.filter((option) => shown.includes(option))
    : options;
}

/** The values of a flag of a command: its own options, else what the catalog knows of the field or filter it stands for. */
export function valuesOfFlag(id: string, flag: Part): Values {
  if (flag.options !== undefined) return { kind: 'words', words: shownOf(flag.options, flag.helpValue) };
  if (flag.name === 'profile') return { kind: 'profiles' };
  if (id === 'query' && flag.name === 'name') return { kind: 'queries' };
  const named = NAME_KINDS.find((kind) => flag.name === kind || flag.name.endsWith(`-${kind}`));
  if (named !== undefined) return { kind: pluralOf(named) };
  const place = placeOf(id);
  if (place !== undefined && (flag.name === 'fields' || flag.name === 'sort')) {
    const words = selectableNames(place.operation.fields ?? place.resource.fields);
    return { kind: flag.name === 'sort' ? 'sort' : 'list', words };
  }
  if (place?.operation.filters !== undefined && flag.name === 'filter') {
    const keys = Object.values(place.operation.filters);
    return { kind: 'filter', words: keys.flatMap(({ key, operators }) => operators.map((each) => key + worded(each))) };
  }
  if (id.startsWith('reports:') && (flag.name === 'fields' || flag.name === 'sort')) {
    return { kind: flag.name === 'sort' ? 'sort' : 'list', words: reportColumns(id.slice('reports:'.length)) };
  }
  if (/\b(?:FILE|DIR)\b/.test(String(flag.helpValue ?? ''))) return { kind: 'file' };
  if (flag.helpValue === 'DATE') return { kind: 'words', words: DATE_WORDS };
  if (flag.name === 'scope') return { kind: 'words', words: SCOPES };
  return (place && listedValues(place, flag.name)) ?? writtenValues(String(flag.helpValue ?? ''));
}

/** The columns of a report as it is without flags. */
function reportColumns(report: string): readonly string[] {
  const spec = REPORTS.find(({ name }) => name === report);
  return spec?.ask({}, new DayReader({}, '2026-01-01')).columns.map(({ name }) => name) ?? [];
}

/** The values of the arguments of a command. */
export function valuesOfArgument(id: string, args: Readonly<Record<string, Part>>, config: Config): Values {
  const [first] = Object.values(args);
  if (first?.options !== undefined) return { kind: 'words', words: first.options };
  if (id === 'help')
    return { kind: 'words', words: [...PAGES.map(({ name }) => name), ...topWords(config.commands)].sort() };
  if (id === 'autocomplete') return { kind: 'words', words: ['bash', 'zsh', 'fish', 'powershell'] };
  if (id.startsWith('profiles:')) return { kind: 'profiles' };
  if (id.startsWith('config:')) return { kind: 'words', words: CONFIG_KEYS.map(({ key }) => key) };
  if (id === 'export') return { kind: 'words', words: [...EXPORTABLE.map(({ name }) => name), 'ALL'] };
  if (id === 'query') return { kind: 'sql', words: sqlWords() };
  if (id === 'api') return { kind: 'words', words: ['GET', 'POST', 'PUT', 'DELETE', ...apiPaths()] };
  return first?.name === 'file' ? { kind: 'file' } : ANY;
}

function topWords(commands: Config['commands']): readonly string[] {
  return [...new Set(commands.map(({ id }) => id.split(':')[0] ?? ''))];
}

/** Paths of the API that name no record. */
function apiPaths(): readonly string[] {
  const paths = RESOURCES.flatMap(({ operations }) => Object.values(operations).map(({ path }) => path.slice(1)));
  return [...new Set(paths)].filter((path) => !path.includes('{')).sort();
}

interface OperationOf {
  readonly resource: Resource;
  readonly operation: Operation;
}

/** The operation behind a command id: `patients:billingtypes:list` is `billingtypesList` of patients. */
function placeOf(id: string): OperationOf | undefined {
  const [name, ...verbs] = id.split(':');
  const resource = RESOURCES.find((known) => known.name === name);
  const verb = verbs.map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1))).join('');
  const operation = resource && (resource.operations[verb] ?? resource.operations[verb === 'list' ? 'async' : 'list']);
  return resource && operation && { resource, operation };
}

function listedValues({ resource, operation }: OperationOf, flag: string): Values | undefined {
  for (const key of Object.values(operation.filters ?? {})) {
    const shortcut = key.shortcuts.find((known) => known.flag === flag);
    if (shortcut === undefined) continue;
    if (key.value.values === undefined) return key.value.all ? { kind: 'words', words: ['ALL'] } : undefined;
    return { kind: shortcut.operator === '->' ? 'list' : 'words', words: key.value.values };
  }
  const parameter = Object.entries(operation.parameters ?? {}).find(([name]) => kebab(name) === flag)?.[1];
  if (parameter !== undefined) return { kind: 'words', words: parameter.values };
  const fields = operation.body ?? resource.fields;
  const kind = Object.entries(fields).find(([name]) => kebab(name) === flag)?.[1].kind;
  const words = kind?.values ?? kind?.item?.values;
  return words && { kind: 'words', words };
}

/** Values that the help names: `weekly|monthly|RULE`. */
function writtenValues(helpValue: string): Values {
  const words = helpValue.split('|').filter((word) => /^[a-z][a-z-]*$/.test(word));
  return words.length > 1 ? { kind: 'words', words } : ANY;
}
