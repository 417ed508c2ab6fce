import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as Args from '@oclif/core/args';
import type { FlagInput } from '@oclif/core/interfaces';
import { localFailure, usageFailure } from '../../core/failure.ts';
import { changeNames, withRows } from '../../core/names/changenames.ts';
import {
  formatNames,
  NAME_KINDS,
  type NameKind,
  type NameRow,
  nameId,
  nameKind,
  nameOrder,
  zoneProblem,
} from '../../core/names/namerows.ts';
import { Names } from '../../core/names/namesfile.ts';
import { didYouMean } from '../../core/nearest.ts';
import { guarded, writeAtomicFile } from '../../core/output/atomicfile.ts';
import { makeOwnFolder } from '../../core/output/ownfile.ts';
import { removeFile } from '../../filesystem/durable.ts';
import { flagGroup } from '../flags/declare.ts';
import { type FlagValues, textFlag } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { editFile, editorOf } from '../process/editor.ts';
import { lockOwner } from '../process/lockowner.ts';
import { changeText, checkedRows } from './importcommand.ts';
import { namesFile, quietNamesFlags } from './profilenames.ts';

const { text } = flagGroup();

export const namesEditArguments = {
  kind: Args.string({ ignoreStdin: true, description: `One of ${NAME_KINDS.join(', ')}; nothing opens an editor` }),
  id: Args.string({ ignoreStdin: true, description: 'Id, or the name that it has' }),
};

export const namesEditFlags: FlagInput = {
  name: text('NAME', 'Its name'),
  timezone: text('ZONE', 'Time zone of a location, such as America/Denver'),
  order: text('N', 'Its place among its kind in lists and reports; empty for after all others'),
  ...quietNamesFlags,
};

/** Changes one row of the names file, or all of it in an editor. */
export abstract class NamesEditCommand extends MolarCommand {
  /** Its `--timezone` is a value of the row, which may be empty: `givenParts` checks it. */
  protected override checkZone(): void {}

  override async run(): Promise<void> {
    const { flags, args } = await this.input();
    const file = namesFile(flags, this.context.env);
    if (args.kind === undefined) await this.inEditor(file, flags);
    else await this.row(file, String(args.kind), args.id, flags);
  }

  private async row(file: string, kindText: string, idText: unknown, flags: FlagValues): Promise<void> {
    const kind = nameKind(kindText);
    if (kind === undefined) {
      const near = didYouMean(kindText, NAME_KINDS);
      throw usageFailure(`KIND must be one of ${NAME_KINDS.join(', ')}.${near}`, { source: 'KIND' });
    }
    if (idText === undefined) throw usageFailure(`ID is missing: which ${kind} is it?`, { source: 'ID' });
    const given = givenParts(kind, flags);
    if (Object.keys(given).length === 0) {
      throw usageFailure('There is nothing to change: give --name, --timezone or --order.', { source: '--name' });
    }
    const change = await changeNames(
      file,
      (names) => {
        const id = nameId(names.idOf(kind, String(idText), 'ID'));
        if (id === undefined) throw usageFailure('ID must be a positive integer, or a name.', { source: 'ID' });
        return withRows(names, [{ kind, id, ...given }]);
      },
      lockOwner(this.context.clock),
    );
    await this.note(changeText(change));
  }

  private async inEditor(file: string, flags: FlagValues): Promise<void> {
    const { env, clock } = this.context;
    const editor = editorOf(env);
    const given = ['name', 'timezone', 'order'].find((name) => textFlag(flags, name) !== undefined);
    if (given !== undefined) throw usageFailure(`--${given} needs KIND and ID before it.`, { source: `--${given}` });
    if (editor === undefined) {
      throw usageFailure('No editor is named in VISUAL or EDITOR.', {
        source: 'EDITOR',
        hint: 'Set one of them, name one row (molar names edit location 5 --name NAME), or use molar names import.',
      });
    }
    const before = formatNames(Names.read(file).rows);
    await guarded(`make the folder ${dirname(file)}`, () => makeOwnFolder(dirname(file)));
    const copy = file.replace(/\.csv$/, `.edit-${randomUUID().slice(0, 8)}.csv`);
    await writeAtomicFile(copy, before);
    const keep = `Nothing was changed. The edited text is kept: correct it, then run molar names import ${copy} --replace.`;
    const code = await guarded(`start the editor ${editor}`, () => editFile(editor, copy, env));
    if (code !== 0) {
      await removeFile(copy);
      throw localFailure('local.file', `The editor ended with ${code ?? 'a signal'}; the names are as they were.`);
    }
    const edited = checkedRows(await guarded(`read ${copy}`, () => readFile(copy)), copy, keep);
    const change = await changeNames(
      file,
      (names) => {
        if (formatNames(names.rows) === before) return withRows(new Names([]), edited);
        throw localFailure('local.file', 'The names were changed by another command meanwhile.', { hint: keep });
      },
      lockOwner(clock),
    );
    await removeFile(copy);
    await this.note(changeText(change));
  }
}

/** What the flags change. Throws a Failure (exit 2) for what is not right. */
function givenParts(kind: NameKind, flags: FlagValues): Partial<NameRow> {
  const [name, timezone, order] = ['name', 'timezone', 'order'].map((flag) => textFlag(flags, flag)?.trim());
  const wrongZone = timezone === undefined || timezone === '' ? undefined : zoneProblem(kind, timezone);
  if (wrongZone !== undefined) throw usageFailure(`--timezone must be ${wrongZone}.`, { source: '--timezone' });
  const place = order === undefined ? undefined : nameOrder(order);
  if (order !== undefined && place === undefined) {
    throw usageFailure('--order must be a whole number, or empty.', { source: '--order' });
  }
  return {
    ...(name !== undefined && { name }),
    ...(timezone !== undefined && { timezone }),
    ...(place !== undefined && { order: place }),
  };
}
