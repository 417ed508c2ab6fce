import type { Environment } from '../../core/environment.ts';
import type { Sink } from '../../core/output/sink.ts';

/** Shows a text that is longer than the screen; false where it did not, so that the text has to be written as it is. */
export type ShowPaged = (text: string) => Promise<boolean>;

/** What less gets unless LESS says otherwise: ends on short texts, keeps colours, leaves the text on the screen. */
const LESS = 'FRX';

/** Lines of a terminal that does not say how many it has. */
const ROWS = 24;

/** What a shell answers for a command that cannot be run, and one that is not there. */
const NOT_RUN: readonly (number | null)[] = [126, 127];

/** The pager of `MOLAR_PAGER`, else `PAGER`; undefined where neither names one. `rows` of the terminal. */
export function pagerOf(env: Environment, rows: number = ROWS): ShowPaged | undefined {
  const command = (env.MOLAR_PAGER ?? env.PAGER ?? '').trim();
  if (command === '' || env.TERM === 'dumb') return undefined;
  return async (text) => {
    if (text.split('\n').length <= rows) return false;
    const { spawnSync } = await import('node:child_process');
    // Waits for the person, who may press Ctrl+C in the pager: nothing else is to happen meanwhile.
    const stdio = ['pipe', 'inherit', 'inherit'] as const;
    const { status, signal } = spawnSync(command, {
      shell: true,
      input: text,
      stdio: [...stdio],
      env: { LESS, ...env },
    });
    return signal !== null || !NOT_RUN.includes(status);
  };
}

/** What a long text is written to. */
interface PagedOutput {
  readonly stdout: { readonly write: (text: string) => Promise<void> };
  readonly page?: ShowPaged | undefined;
}

/** Writes a text for people to standard output, by the pager where there is one. */
export async function writePaged({ stdout, page }: PagedOutput, text: string): Promise<void> {
  if ((await page?.(text)) !== true) await stdout.write(text);
}

/** Output that is shown at its end by a pager. */
export function pagedSink(page: ShowPaged, write: (text: string) => Promise<void>): Sink {
  let text = '';
  const add = async (more: string | Uint8Array) => {
    text += typeof more === 'string' ? more : Buffer.from(more).toString();
  };
  const commit = async () => {
    if (!(await page(text))) await write(text);
  };
  return { write: add, commit, abort: () => write(text).catch(() => undefined) };
}
