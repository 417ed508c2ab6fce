import { readFile } from 'node:fs/promises';
import * as Args from '@oclif/core/args';
import type { FlagInput } from '@oclif/core/interfaces';
import { fileFailure, usageFailure } from '../../core/failure.ts';
import { changeNames, type NamesChange, withRows } from '../../core/names/changenames.ts';
import { type NameParts, NamesSyntax, parseNameParts } from '../../core/names/namerows.ts';
import { Names } from '../../core/names/namesfile.ts';
import { textFrom } from '../../core/textfile.ts';
import { flagGroup } from '../flags/declare.ts';
import { isOn } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { lockOwner } from '../process/lockowner.ts';
import { readBytes } from '../terminal/streams.ts';
import { namesFile, quietNamesFlags } from './profilenames.ts';

export const namesImportArguments = {
  file: Args.string({
    required: true,
    ignoreStdin: true,
    description: 'CSV with the columns kind,id,name,timezone,order, or -',
  }),
};

export const namesImportFlags: FlagInput = {
  replace: flagGroup().toggle('Remove the rows that the file does not have'),
  ...quietNamesFlags,
};

/** Adds the rows of a CSV to the names of a profile; rows of the same kind and id take what its columns tell. */
export abstract class NamesImportCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags, args } = await this.input();
    const { context } = this;
    const source = String(args.file);
    const rows = checkedRows(await this.bytes(source), source === '-' ? 'standard input' : source);
    const change = await changeNames(
      namesFile(flags, context.env),
      (names) => withRows(isOn(flags, 'replace') ? new Names([]) : names, rows),
      lockOwner(context.clock),
    );
    await this.note(changeText(change));
  }

  private async bytes(source: string): Promise<Uint8Array> {
    const { streams, signal } = this.context;
    if (source === '-') return readBytes(streams.stdin.chunks, signal);
    return readFile(source).catch((cause: unknown) => {
      throw fileFailure(`read ${source}`, cause);
    });
  }
}

/** The rows of a names file that somebody wrote. Throws a Failure (exit 2) that names the line, or the byte that is no text. */
export function checkedRows(bytes: Uint8Array, label: string, hint = 'Nothing was changed.'): NameParts[] {
  const text = textFrom(bytes, label, hint);
  try {
    return parseNameParts(text);
  } catch (cause) {
    if (!(cause instanceof NamesSyntax)) throw cause;
    throw usageFailure(`${label}, ${cause.message}`, { source: label, hint });
  }
}

/** What a change did: `3 added, 1 changed, 0 removed.` */
export function changeText({ added, changed, removed }: NamesChange): string {
  const done = [`${added.length} added`, `${changed} changed`, `${removed} removed`];
  return added.length + changed + removed === 0 ? 'Nothing changed.' : `${done.join(', ')}.`;
}
