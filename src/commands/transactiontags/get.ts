import { transactionTags } from '../../catalog/resources/transactiontags.ts';
import { GetCommand, getFlags } from '../../cli/crud/getcommand.ts';
import { idArgument } from '../../cli/crud/resourcecommand.ts';

export default class TransactiontagsGet extends GetCommand {
  static override summary = 'Show one transaction tag';
  static override examples = [
    '<%= config.bin %> transactiontags get 1900000000001',
    '<%= config.bin %> transactiontags get 1900000000001 --json',
  ];
  static override args = idArgument('Id of the transaction tag');
  static override flags = getFlags;
  protected override readonly resource = transactionTags;
}
