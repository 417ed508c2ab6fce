// The manifest of the commands in dist/: their flags and help.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Flags and help of every command of a checkout that is built, so that the binary loads only the command it runs; a line
 * for each command, so that it reads only the lines it needs.
 */
export async function manifest(root) {
  const entry = createRequire(join(root, 'package.json')).resolve('@oclif/core');
  const { Plugin } = await import(pathToFileURL(entry).href);
  const plugin = new Plugin({
    errorOnManifestCreate: true,
    ignoreManifest: true,
    respectNoCacheDefault: true,
    root,
    type: 'core',
  });
  await plugin.load();
  const { commands, ...rest } = plugin.manifest;
  const lines = Object.entries(commands).map(([id, command]) => `${JSON.stringify(id)}:${JSON.stringify(command)}`);
  const end = JSON.stringify(rest).slice(1);
  return `{"commands":{\n${lines.join(',\n')}\n},${end}\n`;
}
