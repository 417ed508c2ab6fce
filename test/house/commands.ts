import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './tree.ts';

interface Part {
  readonly name: string;
  readonly type?: string;
  readonly char?: string;
  readonly multiple?: boolean;
  readonly required?: boolean;
  readonly hidden?: boolean;
  readonly allowNo?: boolean;
  readonly default?: unknown;
  readonly options?: readonly string[];
  readonly aliases?: readonly string[];
}

interface ManifestCommand {
  readonly id: string;
  readonly aliases?: readonly string[];
  readonly hidden?: boolean;
  readonly strict?: boolean;
  readonly args: Readonly<Record<string, Part>>;
  readonly flags: Readonly<Record<string, Part>>;
}

/** The commands of oclif.manifest.json, which preparing a checkout writes. */
export function manifestCommands(): readonly ManifestCommand[] {
  const { commands } = JSON.parse(readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8'));
  return Object.values(commands);
}

/** What scripts rely on, one line a command, argument and flag: commands and flags sorted, arguments in their order. */
export function commandLines(commands: readonly ManifestCommand[]): string {
  const sorted = [...commands].sort((a, b) => (a.id < b.id ? -1 : 1));
  return `${sorted.flatMap(linesOf).join('\n')}\n`;
}

function linesOf({ id, aliases = [], hidden, strict, args, flags }: ManifestCommand): string[] {
  const name = id.replaceAll(':', ' ');
  const marks = [
    ...aliases.map((alias) => `alias:${alias.replaceAll(':', ' ')}`),
    ...(hidden ? ['hidden'] : []),
    ...(strict === false ? ['any-arguments'] : []),
  ];
  return [
    [`molar ${name}`, ...marks].join(' '),
    ...Object.values(args).map((arg) => `  ${partLine(arg.name.toUpperCase(), arg)}`),
    ...Object.values(flags)
      .map((flag) => `  ${partLine(`--${flag.name}`, flag)}`)
      .sort(),
  ];
}

function partLine(name: string, part: Part): string {
  return [
    name,
    ...(part.char ? [`-${part.char}`] : []),
    ...(part.type ? [part.type] : []),
    ...(part.multiple ? ['repeatable'] : []),
    ...(part.required ? ['required'] : []),
    ...(part.hidden ? ['hidden'] : []),
    ...(part.allowNo ? ['negatable'] : []),
    ...(part.default === undefined ? [] : [`default=${JSON.stringify(part.default)}`]),
    ...(part.options ? [`one-of:${part.options.join('|')}`] : []),
    ...(part.aliases ?? []).map((alias) => `alias:--${alias}`),
  ].join(' ');
}
