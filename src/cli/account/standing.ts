import { findCredential } from '../../core/connection/credentials.ts';
import { readSettings } from '../../core/connection/settings.ts';
import type { Environment } from '../../core/environment.ts';
import { Failure, LOCAL_FAILURES } from '../../core/failure.ts';
import { terminalText } from '../../core/output/terminaltext.ts';
import { labelled } from '../terminal/text.ts';

const COLUMN = 14;

/**
 * What `molar` alone says on a terminal: the connection in use, and what is next. Nothing is requested, and no secret is
 * read; `width` of the terminal in columns.
 */
export function standingText(env: Environment, width: number | undefined): string {
  const rows = connectionRows(env);
  return rows.map(([name, value]) => labelled(name, terminalText(value), COLUMN, width)).join('');
}

type Rows = readonly (readonly [name: string, value: string])[];

function connectionRows(env: Environment): Rows {
  try {
    const settings = readSettings({}, env);
    const { baseUrl, organization, sources, profile } = settings;
    const { source } = findCredential({}, env, settings);
    const from = (origin: string | undefined) => (origin === undefined ? '' : ` (${origin})`);
    return [
      ['Profile', profile?.name ?? 'none in use'],
      ['Server', `${baseUrl}${from(sources?.url)}`],
      ['Organization', `${organization}${from(sources?.organization)}`],
      ['Token', `from ${source}; molar whoami asks the server what it may do`],
      ['Next', 'molar patients list, or molar help for every command'],
    ];
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause;
    if (cause.hint === LOCAL_FAILURES['usage.connection'].next)
      return [
        ['Not logged in', 'No server is known yet.'],
        ['Next', 'molar login, or molar demo, which shows a made-up practice; molar help lists every command'],
      ];
    return [
      ['Connection', cause.message],
      ['Next', cause.hint ?? 'molar doctor'],
    ];
  }
}
