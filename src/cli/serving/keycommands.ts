import { flagGroup } from '../flags/declare.ts';
import { isOn } from '../flags/values.ts';
import type { CommandInput } from '../molarcommand.ts';
import { listed } from './credentialflags.ts';
import { type DataFolder, dataFlags, jsonArrayFlag, jsonFlag, ServerCommand } from './servercommand.ts';

const { toggle } = flagGroup();

/** `molar server keys list`: the keys of download links, without what they are. */
export abstract class KeyListCommand extends ServerCommand {
  static override flags = { ...dataFlags, ...jsonArrayFlag };

  protected override async work({ service }: DataFolder, { flags }: CommandInput): Promise<string> {
    const { listKeys } = await import('../../server/files/linkkeys.ts');
    return listed(flags, await listKeys(service.store.read), {
      none: 'There are no keys.',
      cellsOf: ({ id, createdAt, endsAt }) => [id, `made ${createdAt}`, endsAt ? `ends ${endsAt}` : 'signs'],
    });
  }
}

/** `molar server keys rotate`. */
export abstract class KeyRotateCommand extends ServerCommand {
  static override flags = {
    ...dataFlags,
    now: toggle('Refuse every link that was signed with an earlier key, at once'),
    ...jsonFlag,
  };

  protected override async work({ service }: DataFolder, { flags }: CommandInput): Promise<string> {
    const [{ rotateKeys }, { appendCommand }] = await Promise.all([
      import('../../server/files/linkkeys.ts'),
      import('../../server/audit/commands.ts'),
    ]);
    const now = service.clock();
    const id = await service.store.write(async (tx) => {
      const made = await rotateKeys(tx, now, isOn(flags, 'now'));
      await appendCommand(tx, new Date(now).toISOString(), { operation: 'keys.rotate', ids: [made] });
      return made;
    });
    return isOn(flags, 'json') ? `${JSON.stringify({ id })}\n` : `New download links are signed with the key ${id}.\n`;
  }
}
