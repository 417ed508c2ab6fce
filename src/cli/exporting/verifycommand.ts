import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { EXIT } from '../../catalog/failures.ts';
import { quantity } from '../../core/count.ts';
import { type Verified, verifyExport } from '../../core/exports/receipt.ts';
import { Failure, type FailureItem } from '../../core/failure.ts';
import { failureOf } from '../errors/report.ts';
import { isOn, textFlags } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';

export const verifyArguments = {
  file: Args.string({ multiple: true, required: true, ignoreStdin: true, description: 'Exported file' }),
};
export const verifyFlags = {
  json: Flags.boolean({ summary: 'Print JSON; errors are JSON too' }),
  quiet: Flags.boolean({ summary: 'Print nothing when all is well' }),
};

interface Checked {
  readonly file: string;
  readonly verified?: Verified;
  readonly failure?: Failure;
}

/** Checks exported files against their receipts, without contacting the server. */
export abstract class VerifyCommand extends MolarCommand {
  override async run(): Promise<void> {
    const { flags, args } = await this.input();
    const checked: Checked[] = [];
    for (const file of textFlags(args, 'file')) {
      checked.push(
        await verifyExport(file, this.context.signal).then(
          (verified) => ({ file, verified }),
          (cause: unknown) => ({ file, failure: failureOf(cause) }),
        ),
      );
      this.context.signal.throwIfAborted();
    }
    const failure = failureOfCheck(checked);
    if (isOn(flags, 'json')) {
      if (failure === undefined) await this.print(`${JSON.stringify(checked.map(jsonOf), null, 2)}\n`);
    } else if (!isOn(flags, 'quiet')) {
      for (const each of checked) if (isIntact(each)) await this.print(`${lineOf(each)}\n`);
    }
    if (failure !== undefined) throw failure;
  }
}

function isIntact({ verified }: Checked): boolean {
  return verified !== undefined && verified.problems.length === 0;
}

function jsonOf({ file, verified }: Checked) {
  const { kind, rows, bytes, sha256, startedAt, endedAt, filter } = verified?.receipt ?? {};
  return { file, complete: true, kind: kind ?? null, rows, bytes, sha256, filter, startedAt, endedAt };
}

function lineOf({ file, verified }: Checked): string {
  const { kind, rows = 0, endedAt = '', sha256 = '' } = verified?.receipt ?? {};
  const what = kind === 'changes' ? 'is as it was exported, changes only' : 'is complete';
  return `${file} ${what}: ${quantity(rows, 'row')}, exported ${endedAt}, sha256 ${sha256}`;
}

/** Exit 9 when no file is what its receipt says, 6 when some are (contract §4). */
function failureOfCheck(checked: readonly Checked[]): Failure | undefined {
  const bad = checked.filter((each) => !isIntact(each));
  if (bad.length === 0) return undefined;
  const [only] = bad;
  if (checked.length === 1 && only?.failure !== undefined) return only.failure;
  const items = bad.flatMap(({ file, verified, failure }): FailureItem[] =>
    failure !== undefined
      ? [{ code: failure.code, description: failure.message, source: file }]
      : (verified?.problems ?? []).map((problem) => ({
          code: 'local.file',
          description: `${file} is not complete: ${problem}.`,
          source: file,
        })),
  );
  const message =
    checked.length === 1
      ? (items[0]?.description ?? '')
      : `${bad.length} of ${checked.length} files are not what was exported.`;
  return new Failure(message, {
    code: 'local.file',
    exitCode: bad.length === checked.length ? EXIT.file : EXIT.partial,
    items,
    hint: 'Export them again.',
  });
}
