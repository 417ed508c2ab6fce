import { countText } from '../../core/count.ts';
import type { Context } from '../context.ts';
import type { Progress } from './streams.ts';
import { durationText, megabytes } from './text.ts';

/** Milliseconds before anything is shown: short commands show no progress, and a rate takes a while to settle. */
const DELAY = 1000;

/** Milliseconds a byte rate is averaged over: long enough to be steady, short enough to follow a line that slows down. */
const WINDOW = 10_000;

/** One line on the terminal that says how far a command is. */
export class ProgressLine {
  protected readonly started: number;
  /** Whether anybody sees it. */
  readonly isShown: boolean;
  private progress: Promise<Progress> | undefined;
  private isStopped = false;

  constructor(
    protected readonly context: Context,
    quiet = false,
  ) {
    this.started = context.clock.now();
    this.isShown = !quiet && context.streams.startProgress !== undefined;
  }

  /** Shows a text once the delay has passed; it is made only then. */
  show(text: () => string): void {
    if (!this.isShown || this.elapsed() < DELAY) return;
    this.progress ??= this.context.streams.startProgress?.();
    const line = text();
    void this.progress?.then((progress) => {
      if (!this.isStopped) progress.show(line);
    });
  }

  /** Resolves when the line is gone: what is printed then takes its place. */
  async stop(): Promise<void> {
    this.isStopped = true;
    (await this.progress)?.stop();
  }

  protected elapsed(): number {
    return this.context.clock.now() - this.started;
  }
}

/** Shows how many rows were read, how fast, and the time left where the total is known. */
export class RowProgress extends ProgressLine {
  /** Records there are in all, once known. */
  total: number | undefined;
  private first: number | undefined;

  constructor(
    context: Context,
    quiet: boolean,
    private readonly many: string,
  ) {
    super(context, quiet);
  }

  readonly at = (rows: number): void => {
    this.first ??= rows;
    const { total, many, first } = this;
    this.show(() => rowText({ rows, sinceFirst: rows - first, elapsed: this.elapsed(), total, many }));
  };
}

interface RowState {
  readonly rows: number;
  /** Rows of this run without those of its first page, and the milliseconds they took. */
  readonly sinceFirst: number;
  readonly elapsed: number;
  readonly total: number | undefined;
  readonly many: string;
}

/** `12,500 of 40,000 patients, 2,100 a second, about 13 s left`. */
export function rowText({ rows, sinceFirst, elapsed, total, many }: RowState): string {
  const rate = (sinceFirst * 1000) / elapsed;
  const known = total !== undefined && total >= rows;
  const share = known ? `${countText(rows)} of ${countText(total)} ${many}` : `${countText(rows)} ${many}`;
  if (rate < 1) return share;
  const left = known ? `, about ${durationText((total - rows) / rate)} left` : '';
  return `${share}, ${countText(Math.round(rate))} a second${left}`;
}

/** Shows how many files and bytes were transferred, how fast, and the time left where the total is known. */
export class ByteProgress extends ProgressLine {
  private readonly doing: string;
  private readonly files: number | undefined;
  private total: number | undefined;
  private readonly marks: { readonly at: number; readonly bytes: number }[];
  private bytes = 0;
  private done = 0;

  /** `files` and `total`, in bytes, where they are known beforehand. */
  constructor(
    context: Context,
    of: {
      readonly doing: string;
      readonly files: number | undefined;
      readonly total?: number;
      readonly quiet: boolean;
    },
  ) {
    super(context, of.quiet);
    this.doing = of.doing;
    this.files = of.files;
    this.total = of.total;
    this.marks = [{ at: this.started, bytes: 0 }];
  }

  readonly onBytes = (bytes: number): void => {
    this.bytes += bytes;
    this.update();
  };

  /** Bytes of the total that need not be transferred. */
  readonly onSkipped = (bytes: number): void => {
    if (this.total !== undefined) this.total -= bytes;
  };

  readonly onDone = (): void => {
    this.done++;
    this.update();
  };

  private update(): void {
    const { doing, done, files, bytes, total } = this;
    this.show(() => byteText({ doing, done, files, bytes, total, rate: this.rate() }));
  }

  /** Bytes a second over the window. */
  private rate(): number {
    const now = this.context.clock.now();
    const last = this.marks.at(-1);
    if (last === undefined || now - last.at >= DELAY) this.marks.push({ at: now, bytes: this.bytes });
    while (this.marks.length > 2 && now - (this.marks[1]?.at ?? now) >= WINDOW) this.marks.shift();
    const [first] = this.marks;
    return first === undefined || now === first.at ? 0 : ((this.bytes - first.bytes) * 1000) / (now - first.at);
  }
}

interface ByteState {
  readonly doing: string;
  readonly done: number;
  readonly files: number | undefined;
  readonly bytes: number;
  readonly total: number | undefined;
  /** Bytes a second. */
  readonly rate: number;
}

/** `Uploaded 3 of 40 files, 12.5 of 300.2 MB, 2.1 MB/s, about 2 min 17 s left`. */
export function byteText({ doing, done, files, bytes, total, rate }: ByteState): string {
  const count = files === undefined ? done : `${done} of ${files}`;
  const share = `${doing} ${count} files, ${megabytes(bytes)}${total === undefined ? '' : ` of ${megabytes(total)}`} MB`;
  if (rate < 1000) return share;
  const left = total === undefined || total <= bytes ? '' : `, about ${durationText((total - bytes) / rate)} left`;
  return `${share}, ${megabytes(rate)} MB/s${left}`;
}

/** Shows what a task on the server's data is working on: `documents: 12,500`. */
export class TaskProgress extends ProgressLine {
  private what = '';
  private count = 0;

  readonly at = (what: string, count: number): void => {
    this.count = what === this.what ? this.count + count : count;
    this.what = what;
    this.show(() => `${what}: ${countText(this.count)}`);
  };
}
