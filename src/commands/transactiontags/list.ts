import { transactionTags } from '../../catalog/resources/transactiontags.ts';
import { listCommand } from '../../cli/crud/listcommand.ts';

export default class TransactiontagsList extends listCommand(transactionTags) {
  static override examples = [
    '<%= config.bin %> transactiontags list',
    '<%= config.bin %> transactiontags list --type PAYMENT_TAG --out tags.csv',
  ];
}
