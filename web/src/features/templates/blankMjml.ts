/** blankMjml is the code that new mails begin with. */
export const blankMjml = `<mjml>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text>Hello {{ contact.first_name | default: "there" }}</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;
