import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../src/core/clock.ts';
import { localFailure } from '../../src/core/failure.ts';
import { pause } from '../../src/server/pause.ts';
import { type Ran, runCommand } from '../cli/runcommand.ts';
import { commandOf } from '../faithful/driving.ts';
import type { Draws } from '../faithful/random.ts';
import type { SeededNetwork } from './wires.ts';

/** A computer with molar on it: a folder, a line to the server, and a clock that is wrong by a little. */
export class Computer {
  /** Milliseconds by which its clock is ahead. */
  skew = 0;
  private ids = 0;

  constructor(
    readonly name: string,
    private readonly folder: string,
    private readonly network: SeededNetwork,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  static async of(name: string, parent: string, network: SeededNetwork, env: Readonly<Record<string, string>>) {
    const folder = join(parent, name);
    await mkdir(folder);
    return new Computer(name, folder, network, env);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Runs a command by its words, until it ends or the signal ends it. */
  async run(words: readonly string[], signal?: AbortSignal, write?: (text: string) => void): Promise<Ran> {
    const { id, command, argv } = await commandOf(words);
    return runCommand(id, command, argv, {
      env: { ...this.env, MOLAR_CONFIG_DIR: this.path('config') },
      clock: { ...systemClock, now: () => Date.now() + this.skew },
      newId: () => `${this.name}-${++this.ids}`,
      openNetwork: this.network.openNetwork,
      ...(signal && { signal }),
      ...(write && { write: async (chunk) => write(String(chunk)) }),
    });
  }

  /** The same, ended by somebody after a while. */
  async runFor(milliseconds: number, words: readonly string[], write?: (text: string) => void): Promise<Ran> {
    const killed = new AbortController();
    const timer = setTimeout(() => killed.abort(localFailure('run.interrupted', 'Killed.')), milliseconds);
    try {
      return await this.run(words, killed.signal, write);
    } finally {
      clearTimeout(timer);
    }
  }

  /** What its clock does all day: it drifts, and is set now and then. */
  async drift(draws: Draws, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.skew = draws.whole(-90_000, 90_000);
      await pause(draws.whole(1, 8) * 3_600_000, signal);
    }
  }
}
