import { platform } from 'node:process';
import { textFlag } from './flagvalues.ts';
import { type CommandInput, MolarCommand } from './molarcommand.ts';
import { serverFailureOf } from './serverfailures.ts';
import { defaultDataFolder } from './serverfolder.ts';

/** A command on the server's own data; it works with and without a server running on it (contract §7). */
export abstract class ServerCommand<Folder extends { close(): Promise<void> }> extends MolarCommand {
  /** Opens the data folder. */
  protected abstract open(data: string): Promise<Folder>;
  /** Does the work and returns what goes to standard output. */
  protected abstract work(folder: Folder, input: CommandInput): Promise<string>;

  override async run(): Promise<void> {
    const input = await this.input();
    try {
      const folder = await this.open(textFlag(input.flags, 'data') ?? defaultDataFolder(this.context.env, platform));
      try {
        await this.print(await this.work(folder, input));
      } finally {
        await folder.close();
      }
    } catch (error) {
      throw serverFailureOf(error);
    }
  }
}
