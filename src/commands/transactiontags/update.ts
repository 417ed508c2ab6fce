import { transactionTags } from '../../catalog/resources/transactiontags.ts';
import { updateCommand } from '../../cli/crud/writecommands.ts';

export default class TransactiontagsUpdate extends updateCommand(transactionTags) {
  static override description = 'A predefined tag cannot be changed.';
  static override examples = [
    "<%= config.bin %> transactiontags update 1900000000004 --tag-text 'Paid online'",
    "<%= config.bin %> transactiontags update 1900000000004 --tag-text 'Paid online' --dry-run",
  ];
}
