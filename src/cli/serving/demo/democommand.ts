import { once } from 'node:events';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as Flags from '@oclif/core/flags';
import { EXIT } from '../../../catalog/failures.ts';
import type { Environment } from '../../../core/environment.ts';
import { removeTree } from '../../../filesystem/durable.ts';
import { nodeAlias, settingsCommand } from '../../../shells/settings.ts';
import { isOn } from '../../flags/values.ts';
import { MolarCommand } from '../../molarcommand.ts';
import { type Launcher, startServer } from './children.ts';
import { workingDay } from './workingday.ts';

/** `molar demo`: a working day against an embedded server of its own, in a temporary folder (contract §1). */
export abstract class DemoCommand extends MolarCommand {
  static override flags = {
    keep: Flags.boolean({ summary: 'Keep the server running until Ctrl-C, and print how to reach it' }),
  };

  override async run(): Promise<void> {
    const { flags } = await this.input();
    const { temporaryFolder, env, clock, shell, signal, setExitCode } = this.context;
    const folder = await mkdtemp(join(temporaryFolder, 'molar-demo-'));
    const script = join(this.config.root, 'bin', 'run.js');
    try {
      await this.print('Starting the embedded server with a synthetic practice …\n');
      const data = join(folder, 'server');
      const server = await startServer({ script, folder, env }, ['--port', '0', '--data', data, '--demo', 'small']);
      try {
        const connection = await readEnvironment(join(data, 'demo.env'));
        const settings = { MOLAR_CONFIG_DIR: join(folder, 'config') };
        const launcher: Launcher = { script, folder, env: { ...withoutConnection(env), ...connection, ...settings } };
        await this.print(`It listens on ${server.url}. Everything below is what the commands print.\n`);
        const say = (text: string) => this.print(text);
        await workingDay(launcher, { say, shell }, new Date(clock.now()), signal);
        if (isOn(flags, 'keep')) await this.keep(folder, script, server.url, signal);
        else
          await this.print('\nThat was the demo. Run it with --keep to try commands of your own on the same server.\n');
      } finally {
        await server.stop();
      }
      setExitCode(EXIT.done);
    } finally {
      await removeTree(folder);
    }
  }

  private async keep(folder: string, script: string, url: string, signal: AbortSignal): Promise<void> {
    const { shell } = this.context;
    const settings = settingsCommand(join(folder, 'server', 'demo'), shell);
    const lines = [settings, nodeAlias('molar', script, shell), 'molar patients list'];
    await this.print(`\nThe server keeps running on ${url}. To reach it from another shell:\n\n`);
    await this.print(`${lines.map((line) => `  ${line}\n`).join('')}\n`);
    await this.print(`Its API is described on ${url}/docs.\nCtrl-C here stops the server and removes its data.\n`);
    if (!signal.aborted) await once(signal, 'abort');
  }
}

/** `export NAME='value'` lines as an environment. */
async function readEnvironment(file: string): Promise<Record<string, string>> {
  const lines = (await readFile(file, 'utf8')).matchAll(/^export (\w+)='(.*)'$/gm);
  return Object.fromEntries([...lines].map(([, name = '', value = '']) => [name, value]));
}

/** The demo connects to its own server, whatever the shell is configured for, and has bookmarks of its own. */
function withoutConnection(env: Environment): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('MOLAR_')));
}
