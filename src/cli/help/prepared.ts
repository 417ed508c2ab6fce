import { SHELLS, type Shell } from '../../shells/shell.ts';
import { ManifestConfig } from '../startup/manifestconfig.ts';
import { WIDTH } from '../startup/resolution.ts';
import { helpText } from './commandhelp.ts';

/** The help of a command or topic, as it is for each shell where there is no terminal. */
export type Prepared = Readonly<Record<Shell, string>>;

/**
 * The help of each command and topic by its id: the build keeps it beside the program, which then need not make it. The
 * help on everything is left out, since it names the version of Node: that is also what oclif has to say on `help`.
 */
export async function preparedHelp(root: string): Promise<ReadonlyMap<string, Prepared>> {
  const { commands, topics, userAgent } = new ManifestConfig(root);
  const ids = new Set([...commands, ...topics].map((each) => ('id' in each ? each.id : each.name)));
  const prepared = new Map<string, Prepared>();
  for (const id of ids) {
    const texts = await Promise.all(SHELLS.map(async (shell) => [shell, await textFor(root, id, shell)] as const));
    const isOfAnyNode = texts.every(([, text]) => !text.includes(userAgent));
    if (isOfAnyNode) prepared.set(id, Object.fromEntries(texts) as Prepared);
  }
  return prepared;
}

/** oclif changes what it was given, so that each text has a configuration of its own. */
function textFor(root: string, id: string, shell: Shell): Promise<string> {
  const config = new ManifestConfig(root);
  return helpText(id, config, { width: WIDTH, isColoured: false, shell, isLeaf: config.isLeaf(id) });
}
