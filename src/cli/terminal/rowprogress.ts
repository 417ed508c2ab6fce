import type { Context } from '../context.ts';
import type { Progress } from './streams.ts';

/** Short commands show no progress, and rates need some time to be told. */
const PATIENCE = 1000;

/** Tells on the terminal how many rows have come, how fast, and when the end is due where the total is known. */
export class RowProgress {
  /** Records there are in all, once known. */
  total: number | undefined;
  private readonly context: Context;
  private readonly silent: boolean;
  private readonly many: string;
  private readonly started: number;
  private first: number | undefined;
  private progress: Promise<Progress> | undefined;
  private stopped = false;

  constructor(context: Context, silent: boolean, many: string) {
    this.context = context;
    this.silent = silent || context.streams.startProgress === undefined;
    this.many = many;
    this.started = context.clock.now();
  }

  /** Whether anybody sees it. */
  get isShown(): boolean {
    return !this.silent;
  }

  readonly at = (rows: number): void => {
    const elapsed = this.context.clock.now() - this.started;
    this.first ??= rows;
    if (this.silent || elapsed < PATIENCE) return;
    this.progress ??= this.context.streams.startProgress?.();
    const text = progressText({ rows, came: rows - this.first, elapsed, total: this.total, many: this.many });
    void this.progress?.then((progress) => {
      if (!this.stopped) progress.show(text);
    });
  };

  stop(): void {
    this.stopped = true;
    void this.progress?.then((progress) => progress.stop());
  }
}

interface Standing {
  readonly rows: number;
  /** Rows of this run without those of its first page, and the milliseconds they took. */
  readonly came: number;
  readonly elapsed: number;
  readonly total: number | undefined;
  readonly many: string;
}

/** `12,500 of 40,000 patients, 2,100 a second, about 13 s left`. */
export function progressText({ rows, came, elapsed, total, many }: Standing): string {
  const rate = (came * 1000) / elapsed;
  const known = total !== undefined && total >= rows;
  const share = known ? `${counted(rows)} of ${counted(total)} ${many}` : `${counted(rows)} ${many}`;
  if (rate < 1) return share;
  const left = known ? `, about ${durationText((total - rows) / rate)} left` : '';
  return `${share}, ${counted(Math.round(rate))} a second${left}`;
}

/** Seconds as people say them: `40 s`, `3 min 20 s`, `2 h 5 min`. */
export function durationText(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min${whole % 60 === 0 ? '' : ` ${whole % 60} s`}`;
  return `${Math.floor(minutes / 60)} h${minutes % 60 === 0 ? '' : ` ${minutes % 60} min`}`;
}

export function counted(total: number): string {
  return total.toLocaleString('en-US');
}
