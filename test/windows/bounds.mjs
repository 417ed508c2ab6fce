// What keeps the gate from going on for ever: Node under Wine does, when Wine's own server is gone.
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** What Wine's server prints when it ends on an error of its own. Whatever runs then waits for it, for ever. */
const CRASH = 'wineserver crashed';

/** A crash is Wine's and not the product's, as long as it does not happen each time. */
const ATTEMPTS = 5;

/** The last line of a run without tests, too, says how many failed. Gives the exit code. */
export function closing(passed, failed) {
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed;
}

/**
 * Ends this process as failed when that many minutes are over; what `run` (tree.mjs) has started ends with it. Nothing is
 * awaited, since what hangs may be anything.
 */
export function endAfter(minutes) {
  const end = () => {
    process.stderr.write(
      `Not done after ${minutes} minutes: ended. Something hangs, or the machine is too busy; ` +
        'MOLAR_WINDOWS_MINUTES gives it longer.\n',
    );
    process.exit(closing(0, 1));
  };
  setTimeout(end, minutes * 60_000).unref();
}

/**
 * Runs tests, and shows what they print: `start` gets the file that they print to, and a signal to end them at once. If
 * Wine's server crashes they are ended and run again; if it crashes each time they have failed. Gives the exit code.
 */
export async function untilWineLasts(start, path) {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    // Node under Wine can write to a file or a terminal, and not to a pipe of Linux.
    const file = await open(path, 'w');
    const crash = new AbortController();
    const code = start(file.fd, crash.signal).then(
      () => 0,
      () => 1,
    );
    await follow(path, code, crash);
    await file.close();
    if (!crash.signal.aborted) return code;
    const next =
      attempt < ATTEMPTS
        ? ', which says nothing of the product. The tests are run again from the start.'
        : ` in each of ${ATTEMPTS} attempts.`;
    process.stderr.write(`\nWine's own server crashed${next}\n`);
  }
  return closing(0, 1);
}

/** Prints what is written to a file until a promise settles, and what there is then; tells when it is a crash. */
async function follow(path, ended, crash) {
  let position = 0;
  let text = '';
  for (let isOver = false, last = false; !last; ) {
    last = isOver;
    isOver = await Promise.race([ended.then(() => true), sleep(500, false)]);
    for await (const chunk of createReadStream(path, { start: position })) {
      position += chunk.length;
      process.stdout.write(chunk);
      text = text.slice(-CRASH.length) + chunk.toString('latin1');
      if (text.includes(CRASH)) crash.abort();
    }
  }
}
