import { serverFailureOf } from '../errors/server.ts';
import { type CommandInput, MolarCommand } from '../molarcommand.ts';
import { type ServerPlace, serverPlace } from './serverfolder.ts';

/** A command on the server's own data; it works with and without a server running on it (contract §7). */
export abstract class ServerCommand<Folder extends { close(): Promise<void> }> extends MolarCommand {
  /** Opens the data. */
  protected abstract open(place: ServerPlace): Promise<Folder>;
  /** Does the work and returns what goes to standard output, or what is left of it. */
  protected abstract work(folder: Folder, input: CommandInput): Promise<string>;

  override async run(): Promise<void> {
    const input = await this.input();
    try {
      const folder = await this.open(serverPlace(input.flags, this.context.env));
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
