import { equals, type Tests } from "../../base/testing";
import { pathIn, sectionOf } from "./sectionOf";

const tests: Tests = {
	"each field is in a section of the composer"() {
		const fields: { [path: string]: string } = {
			name: "name",
			include_segment_keys: "audience",
			"exclude_segment_keys[1]": "audience",
			email_type_key: "from",
			"sending_identity_emails[0]": "from",
			mta_config_key: "from",
			"delivery_lanes[1].weight": "from",
			"content.from_name": "from",
			"content.reply_to": "from",
			"content.subject": "content",
			"content.body_html": "content",
			"parameters.title": "content",
			"sections.stories[0].headline": "content",
			"slots.footer": "content",
			"variants[1].content_overrides.subject": "variants",
			"variants[0].weight": "variants",
			scheduled_at: "delivery",
			delivery_window_days: "delivery",
			throttle_per_hour: "delivery",
			tags: "delivery",
		};
		for (const [path, expected] of Object.entries(fields)) equals(sectionOf(path), expected, path);
	},
	"a message may begin with the field that it is about"() {
		const messages: [message: string, want: string | undefined][] = [
			["content.subject, line 1: unknown field", "content.subject"],
			["variants[1].content_overrides.body_html: is empty", "variants[1].content_overrides.body_html"],
			["content: is empty", "content"],
			["The content is empty", undefined],
			["content is empty", undefined],
			["", undefined],
		];
		for (const [message, expected] of messages) equals(pathIn(message), expected, message);
	},
};

export default tests;
