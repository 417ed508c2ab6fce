import { transactionTags } from '../../catalog/resources/transactiontags.ts';
import { ListCommand, listFlags } from '../../cli/crud/listcommand.ts';

export default class TransactiontagsList extends ListCommand {
  static override summary = 'List transaction tags';
  static override examples = [
    '<%= config.bin %> transactiontags list',
    '<%= config.bin %> transactiontags list --type PAYMENT_TAG --csv > tags.csv',
  ];
  static override flags = listFlags(transactionTags);
  protected override readonly resource = transactionTags;
}
