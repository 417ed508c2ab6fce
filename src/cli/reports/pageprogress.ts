import type { Context } from '../context.ts';
import type { Progress } from '../terminal/streams.ts';

/** Short commands show no progress. */
const PATIENCE = 1000;

/** Tells on the terminal which page has come, once a command takes longer than a moment. */
export function pageProgress(context: Context, silent: boolean) {
  const started = context.clock.now();
  const { startProgress } = context.streams;
  let progress: Promise<Progress> | undefined;
  let stopped = false;
  return {
    at(text: string): void {
      if (silent || context.clock.now() - started < PATIENCE) return;
      progress ??= startProgress?.();
      void progress?.then((line) => {
        if (!stopped) line.show(text);
      });
    },
    stop(): void {
      stopped = true;
      void progress?.then((line) => line.stop());
    },
  };
}
