/** What is asked for, then what is sent, then what the command does besides, then its output and its connection. */
const ORDER = [
  ...['FILTER', 'MESSAGES', 'FIELDS', 'RECURRENCE', 'BODY', 'DOCUMENT', 'BATCH', 'FORWARDING'],
  ...['', 'OUTPUT', 'EXPORT', 'CONNECTION', 'BROKER'],
];

/** Flags of nearly every command that nobody looks for. */
const LAST = ['quiet', 'verbose'];

interface GroupedFlag {
  readonly name: string;
  readonly helpGroup?: string | undefined;
}

export interface FlagGroup<F> {
  /** `OUTPUT`; empty for flags of no group, `OTHER` for those that nearly every command has. */
  readonly name: string;
  readonly flags: readonly F[];
}

/** Flags in the order in which help and manual show them; within a group as they are declared. */
export function inGroups<F extends GroupedFlag>(flags: readonly F[]): FlagGroup<F>[] {
  const groupOf = ({ name, helpGroup }: F) => helpGroup ?? (LAST.includes(name) ? 'OTHER' : '');
  const names = [...new Set(flags.map(groupOf))];
  const place = (name: string) =>
    ORDER.includes(name) ? ORDER.indexOf(name) : ORDER.length + Number(name === 'OTHER');
  return names
    .sort((a, b) => place(a) - place(b))
    .map((name) => ({ name, flags: flags.filter((flag) => groupOf(flag) === name) }));
}
