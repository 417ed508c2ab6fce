import { resolve } from 'node:path';
import { localFailure } from '../../core/failure.ts';
import { flagGroup } from '../flags/declare.ts';
import { isOn, wholeNumber } from '../flags/values.ts';
import { MolarCommand } from '../molarcommand.ts';
import { lockOwner } from '../process/lockowner.ts';
import { dataFlags, dataLocation, jsonFlag, requireFolder } from './servercommand.ts';
import { askToStop, processName, serverOn, waitForEnd } from './stopping.ts';

/** Seconds that it waits when nothing is said: longer than a server takes that drains for as long as a proxy needs. */
const TIMEOUT_S = 60;

/** `molar server stop`: asks the server of a data folder to end in order, on any system, and waits until it has. */
export abstract class StopCommand extends MolarCommand {
  static override flags = {
    data: dataFlags.data,
    timeout: flagGroup().whole('S', `Seconds to wait until the server has ended, ${TIMEOUT_S} when not given`),
    ...jsonFlag,
  };

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { env, clock, signal } = this.context;
    const location = dataLocation(flags, env);
    requireFolder(location);
    const data = resolve(location.data);
    const seconds = wholeNumber(flags, 'timeout', 1, 3600) ?? TIMEOUT_S;
    const owner = lockOwner(clock);
    const server = await serverOn(data, owner);
    if (server === undefined) {
      throw localFailure('server.none', `No server is running on ${data}.`, { source: '--data' });
    }
    const name = processName(server, owner);
    await askToStop(data, server);
    await this.note(
      `Waiting until the server (${name}) has finished its requests and ended, for ${seconds} s at most.`,
    );
    await waitForEnd(data, server, owner, { timeout: seconds * 1000, signal });
    const { pid, startedAt } = server;
    await this.print(
      isOn(flags, 'json')
        ? `${JSON.stringify({ data, pid, startedAt })}\n`
        : `The server on ${data} has ended (${name}).\n`,
    );
  }
}
