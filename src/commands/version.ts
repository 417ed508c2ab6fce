import { MolarCommand } from '../cli/molarcommand.ts';

export default class Version extends MolarCommand {
  static override summary = 'Show the version of molar and of Node';
  static override examples = ['<%= config.bin %> version', '<%= config.bin %> --version'];

  override async run(): Promise<void> {
    await this.input();
    await this.print(`${this.config.userAgent}\n`);
  }
}
