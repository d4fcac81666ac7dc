// Calls that the type checker checks against the generated types; nothing runs them.
import createClient from "openapi-fetch";
import type { paths } from "./api";

const client = createClient<paths>({ baseUrl: "https://mail.example.com/t/acme", headers: { "X-API-Key": "pbk_…" } });

const { data } = await client.GET("/api/contacts", { params: { query: { status: ["active", "pending"], limit: 5, sort: "email" } } });
export const address: string | undefined = data?.data[0]?.email;

const made = await client.POST("/api/segments", {
	body: { name: "Readers", definition: { logic: "and", conditions: [{ field: "country", operator: "equals", value: "DE" }] } },
});
export const key: string | undefined = made.data?.segment_key;

const templates = await client.GET("/api/templates", { params: { query: { full: true } } });
export const html: string | undefined = templates.data?.data[0]?.content_html;

// @ts-expect-error: a limit is a number
await client.GET("/api/contacts", { params: { query: { limit: "5" } } });
