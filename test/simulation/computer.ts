import { AsyncLocalStorage } from 'node:async_hooks';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../src/core/clock.ts';
import { localFailure } from '../../src/core/failure.ts';
import { pause } from '../../src/server/pause.ts';
import { type Ran, runCommand } from '../cli/runcommand.ts';
import { commandOf } from '../faithful/driving.ts';
import type { Draws } from '../faithful/random.ts';
import type { Disks, Left } from './disk.ts';
import type { SeededNetwork } from './wires.ts';

/** The computer that a command runs on. */
const machines = new AsyncLocalStorage<Computer>();

const SECOND = 1000;

/** The exit code of a command that had no time to end. */
const KILLED = 137;

/** Names the machine on which this is asked, and how often it was started. */
export function bootOfMachine(): string {
  const machine = machines.getStore();
  return machine === undefined ? 'the server' : `${machine.name} ${machine.starts}`;
}

/** A computer with molar on it: a folder, a line to the server, and a clock that is wrong by a little. */
export class Computer {
  /** Milliseconds by which its clock is ahead. */
  skew = 0;
  starts = 1;
  private ids = 0;
  private power = new AbortController();
  private readonly running = new Set<Promise<unknown>>();
  /** Resolves when it has started again. */
  private ready = Promise.resolve();

  constructor(
    readonly name: string,
    private readonly folder: string,
    private readonly network: SeededNetwork,
    private readonly disks: Disks,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  static async of(
    name: string,
    parent: string,
    network: SeededNetwork,
    disks: Disks,
    env: Readonly<Record<string, string>>,
  ) {
    const folder = join(parent, name);
    await mkdir(folder);
    disks.settle(folder);
    return new Computer(name, folder, network, disks, env);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Runs a command by its words, until it ends, the signal ends it or power is lost. */
  async run(words: readonly string[], signal?: AbortSignal, write?: (text: string) => void): Promise<Ran> {
    await this.hasPower();
    const { power } = this;
    const running = machines.run(this, () => this.start(words, signal, power.signal, write));
    this.running.add(running);
    const ran = await running.finally(() => this.running.delete(running));
    return power.signal.aborted ? { ...ran, exitCode: KILLED } : ran;
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

  private async start(
    words: readonly string[],
    signal: AbortSignal | undefined,
    power: AbortSignal,
    write?: (text: string) => void,
  ): Promise<Ran> {
    const { id, command, argv } = await commandOf(words);
    return runCommand(id, command, argv, {
      env: { ...this.env, MOLAR_CONFIG_DIR: this.path('config') },
      clock: { ...systemClock, now: () => Date.now() + this.skew },
      newId: () => `${this.name}-${++this.ids}`,
      openNetwork: this.network.openNetwork,
      signal: signal === undefined ? power : AbortSignal.any([signal, power]),
      ...(write && { write: async (chunk) => void (power.aborted || write(String(chunk))) }),
    });
  }

  /** Resolves when it has power. */
  async hasPower(): Promise<void> {
    while (this.power.signal.aborted) await this.ready;
  }

  /** Resolves when a command is running, or the signal is aborted. */
  async busy(signal: AbortSignal): Promise<void> {
    while (this.running.size === 0 && !signal.aborted) await pause(SECOND, signal);
  }

  /** Loses power: what runs ends at once, and of what was not synced anything may be there when it starts again. */
  losePower(draws: Draws): Promise<void> {
    this.ready = this.startAgain(this.disks.afterCut(this.folder, draws));
    return this.ready;
  }

  private async startAgain(left: Left): Promise<void> {
    this.power.abort(localFailure('run.interrupted', 'Power is lost.'));
    // What they do until they have noticed is done to a disk that nobody sees again.
    await Promise.allSettled(this.running);
    this.disks.become(this.folder, left);
    this.power = new AbortController();
    this.starts++;
  }

  /** What its clock does all day: it drifts, and is set now and then. */
  async drift(draws: Draws, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      this.skew = draws.whole(-90_000, 90_000);
      await pause(draws.whole(1, 8) * 3_600_000, signal);
    }
  }
}
