import { equals, type Tests } from "../../base/testing";
import { columnName } from "./importSample";

const tests: Tests = {
	"columns are named as on the server"() {
		const names = { " Name ": "Name", "'=sum": "=sum", "''+x": "'+x", "'tis": "'tis", "e\u0301": "\u00e9", "": "" };
		for (const [cell, want] of Object.entries(names)) equals(columnName(cell), want, cell);
	},
};

export default tests;
