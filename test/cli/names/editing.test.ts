import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import NamesEdit from '../../../src/commands/names/edit.ts';
import { need } from '../../support/capabilities.ts';
import { runCommand } from '../runcommand.ts';
import { editor, namesEnv } from './namesenv.ts';

it('names edit loses nothing that another command writes while the editor is open', async (context) => {
  need(context, 'posixShell');
  const lines = ['echo "location,6,Other," >>"$MOLAR_CONFIG_DIR/names/default.csv"', 'sed -i s/Main/Edited/ "$2"'];
  const env = namesEnv('kind,id,name,timezone\nlocation,5,Main,UTC\n', {
    EDITOR: editor(lines.join('\n')),
    PATH: process.env.PATH ?? '',
  });
  const ran = await runCommand('names:edit', NamesEdit, [], { env });
  expect(ran).toMatchObject({ exitCode: 9, stdout: '' });
  expect(ran.stderr).toContain('The names were changed by another command meanwhile.');
  const names = join(env.MOLAR_CONFIG_DIR ?? '', 'names', 'default.csv');
  expect(readFileSync(names, 'utf8')).toBe('kind,id,name,timezone\nlocation,5,Main,UTC\nlocation,6,Other,\n');
  const kept = /import (.*) --replace/.exec(ran.stderr)?.[1] ?? '';
  expect(readFileSync(kept, 'utf8')).toContain('location,5,Edited,UTC');
});
