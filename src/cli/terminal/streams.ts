import { untilAborted } from '../../core/abort.ts';
import type { Environment } from '../../core/environment.ts';
import { fileFailure } from '../../core/failure.ts';
import { textFrom } from '../../core/textfile.ts';
import { type EmptyFile, emptyRedirection } from './outputfile.ts';
import { pagerOf, type ShowPaged } from './pager.ts';

/** The reader of our output closed it (`| head`): the command ends silently with 0. */
export class ClosedPipe extends Error {
  constructor() {
    super('The reader of the output is gone.');
    this.name = 'ClosedPipe';
  }
}

export interface OutStream {
  /** Resolves when the text is taken by the system; rejects with ClosedPipe when nobody reads any more. */
  readonly write: (chunk: string | Uint8Array) => Promise<void>;
  readonly isTTY: boolean;
  /** Width of the terminal, undefined where there is none. */
  readonly columns: number | undefined;
}

/** The streams of a run, passed in so that commands can be run without a process of their own. */
export interface Streams {
  readonly stdout: OutStream;
  readonly stderr: OutStream;
  readonly stdin: { readonly isTTY: boolean; readonly chunks: AsyncIterable<Uint8Array> };
  /** Asks a yes-or-no question on the terminal; rejects when the person interrupts it. */
  readonly confirm: (question: string, signal: AbortSignal) => Promise<boolean>;
  /** Prompts for a text on the terminal, and rejects as `confirm` does; absent where there is no terminal. */
  readonly ask?: ((question: Question, signal: AbortSignal) => Promise<string>) | undefined;
  /** An empty file that the shell made for this run; absent where nobody can tell. */
  readonly emptyRedirection?: (() => EmptyFile | undefined) | undefined;
  /** Shows a long text by a pager; absent where standard output is no terminal, or no pager is named. */
  readonly page?: ShowPaged | undefined;
  /** Shows a text that changes on standard error; undefined where that is no terminal. */
  readonly startProgress: (() => Promise<Progress>) | undefined;
}

/** A prompt for a text: typed, typed without echo, or one of `choices`. */
export interface Question {
  readonly message: string;
  readonly secret?: boolean;
  readonly choices?: readonly string[];
  /** The default when nothing is typed. */
  readonly initial?: string | undefined;
  /** What is wrong with a text; the prompt repeats until it returns undefined. */
  readonly check?: (text: string) => string | undefined;
}

/** A line on the terminal that shows the progress of a command. */
export interface Progress {
  readonly show: (text: string) => void;
  readonly stop: () => void;
}

/** Whether a terminal is to get colours: not one that calls itself dumb, and never with NO_COLOR (no-color.org). */
export function hasColours(env: Environment): boolean {
  return (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb';
}

/** The streams of this process: the only place that touches them. */
export function processStreams(): Streams {
  return {
    stdout: outStream(process.stdout),
    stderr: outStream(process.stderr),
    stdin: {
      get isTTY() {
        return process.stdin.isTTY === true;
      },
      chunks: { [Symbol.asyncIterator]: () => process.stdin[Symbol.asyncIterator]() },
    },
    confirm,
    // A getter, because reading `process.stdin` opens standard input.
    get ask() {
      return process.stdin.isTTY === true && process.stderr.isTTY === true ? ask : undefined;
    },
    emptyRedirection,
    page: process.stdout.isTTY === true ? pagerOf(process.env, process.stdout.rows) : undefined,
    startProgress: process.stderr.isTTY === true ? startProgress : undefined,
  };
}

async function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  const { createPromptModule } = await import('inquirer');
  // Standard output carries data only, so the question goes to standard error.
  const prompt = createPromptModule({ input: process.stdin, output: process.stderr, signal });
  const { yes } = await prompt([{ type: 'confirm', name: 'yes', message: question, default: false }]);
  return yes === true;
}

async function ask({ message, secret, choices, initial, check }: Question, signal: AbortSignal): Promise<string> {
  const { createPromptModule } = await import('inquirer');
  const prompt = createPromptModule({ input: process.stdin, output: process.stderr, signal });
  const common = { name: 'text', message, ...(initial !== undefined && { default: initial }) };
  const validate = (text: string) => check?.(text) ?? true;
  const { text } = choices
    ? await prompt([{ ...common, type: 'select', choices: [...choices] }])
    : secret
      ? await prompt([{ ...common, type: 'password', mask: '*', validate }])
      : await prompt([{ ...common, type: 'input', validate }]);
  return String(text);
}

async function startProgress(): Promise<Progress> {
  const { default: ora } = await import('ora');
  const color = hasColours(process.env) ? 'cyan' : false;
  const spinner = ora({ stream: process.stderr, discardStdin: false, color });
  return {
    show: (text) => {
      spinner.text = text;
      if (!spinner.isSpinning) spinner.start();
    },
    stop: () => {
      spinner.stop();
    },
  };
}

function outStream(stream: NodeJS.WriteStream): OutStream {
  const ignore = () => undefined;
  // oclif listens too, from when it is loaded, and throws what it does not know; failures come back through `write`.
  const listen = () => {
    if (stream.listeners('error').length === 1 && stream.listeners('error')[0] === ignore) return;
    stream.removeAllListeners('error');
    stream.on('error', ignore);
  };
  listen();
  return {
    write: (chunk) => {
      listen();
      return new Promise((resolve, reject) => {
        stream.write(chunk, (problem) => {
          if (problem === null || problem === undefined) resolve();
          else reject(isClosed(problem) ? new ClosedPipe() : fileFailure('write the output', problem));
        });
      });
    },
    isTTY: stream.isTTY === true,
    get columns() {
      return stream.isTTY === true ? stream.columns : undefined;
    },
  };
}

function isClosed(problem: NodeJS.ErrnoException): boolean {
  return ['EPIPE', 'ERR_STREAM_DESTROYED', 'ERR_STREAM_WRITE_AFTER_END', 'ECONNRESET'].includes(problem.code ?? '');
}

/**
 * All chunks as text; `label` names them in messages. Rejects with the reason of the signal, since a person may never end
 * what they type, and with a Failure (exit 2) for what is no text.
 */
export async function readAll(
  chunks: AsyncIterable<Uint8Array>,
  signal?: AbortSignal,
  label = 'Standard input',
): Promise<string> {
  return textFrom(await readBytes(chunks, signal), label);
}

/** All chunks as bytes, else as `readAll`. */
export async function readBytes(chunks: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  const reading = (async () => {
    for await (const chunk of chunks) parts.push(chunk);
  })();
  await untilAborted(reading, signal);
  return Buffer.concat(parts);
}

/** The same chunks; throws the reason of the signal as soon as that aborts, even while a chunk is awaited. */
export async function* chunksUntilAborted(
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]();
  for (;;) {
    const next = await untilAborted(source.next(), signal);
    if (next.done) return;
    yield next.value;
  }
}
